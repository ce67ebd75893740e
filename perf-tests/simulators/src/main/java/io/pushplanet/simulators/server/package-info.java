/// The HTTP servers the simulators stand on.
@NullMarked
package io.pushplanet.simulators.server;

import org.jspecify.annotations.NullMarked;
