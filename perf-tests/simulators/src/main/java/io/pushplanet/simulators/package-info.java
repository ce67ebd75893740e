/// The program that starts every provider simulator, and its management port.
@NullMarked
package io.pushplanet.simulators;

import org.jspecify.annotations.NullMarked;
