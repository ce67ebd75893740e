/// The HTTP servers of the simulators.
@NullMarked
package io.pushplanet.simulators.server;

import org.jspecify.annotations.NullMarked;
