/// Devices to send to, and traffic to them.
@NullMarked
package io.pushplanet.load.scenario;

import org.jspecify.annotations.NullMarked;
