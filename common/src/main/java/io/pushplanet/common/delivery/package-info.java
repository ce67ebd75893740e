/// What became of a message at a device, told as events.
@NullMarked
package io.pushplanet.common.delivery;

import org.jspecify.annotations.NullMarked;
