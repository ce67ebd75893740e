/// What happens to a message at a device, published as events.
@NullMarked
package io.pushplanet.common.delivery;

import org.jspecify.annotations.NullMarked;
