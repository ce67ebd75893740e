/// Servers that a benchmark starts for itself, what they cost, and fleets of devices in processes
/// of their own.
@NullMarked
package io.pushplanet.load.node;

import org.jspecify.annotations.NullMarked;
