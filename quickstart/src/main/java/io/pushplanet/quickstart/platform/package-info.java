/// The whole platform on one machine: services, simulators and the four programs, and the commands of `./pushplanet`.
@NullMarked
package io.pushplanet.quickstart.platform;

import org.jspecify.annotations.NullMarked;
