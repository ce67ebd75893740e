/// The whole platform on one machine: services, simulators and the four programs, planned, started,
/// and ended together.
@NullMarked
package io.pushplanet.quickstart.platform;

import org.jspecify.annotations.NullMarked;
