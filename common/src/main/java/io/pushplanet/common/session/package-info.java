/// The session directory and the route of each device, both in Redis and rebuildable.
@NullMarked
package io.pushplanet.common.session;

import org.jspecify.annotations.NullMarked;
