/// What the simulators keep on disk, so that it outlives a restart.
@NullMarked
package io.pushplanet.simulators.state;

import org.jspecify.annotations.NullMarked;
