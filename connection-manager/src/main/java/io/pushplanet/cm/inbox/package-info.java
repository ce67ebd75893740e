/// What waited for a device in MySQL while it was away.
@NullMarked
package io.pushplanet.cm.inbox;

import org.jspecify.annotations.NullMarked;
