/// The channels of each device, in Redis and rebuildable from MySQL.
@NullMarked
package io.pushplanet.common.route;

import org.jspecify.annotations.NullMarked;
