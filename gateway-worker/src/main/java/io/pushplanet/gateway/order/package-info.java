/// Keeps an order among work that is done at the same time, and among threads that wait for room.
@NullMarked
package io.pushplanet.gateway.order;

import org.jspecify.annotations.NullMarked;
