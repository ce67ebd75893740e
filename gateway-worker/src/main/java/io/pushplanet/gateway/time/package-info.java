/// Clocks.
@NullMarked
package io.pushplanet.gateway.time;

import org.jspecify.annotations.NullMarked;
