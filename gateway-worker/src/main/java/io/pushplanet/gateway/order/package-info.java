/// Keeps an order among what is worked on side by side.
@NullMarked
package io.pushplanet.gateway.order;

import org.jspecify.annotations.NullMarked;
