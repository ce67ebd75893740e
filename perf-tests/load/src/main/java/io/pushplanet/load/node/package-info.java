/// Servers that a benchmark starts, their cost, and fleets of devices in processes of their own.
@NullMarked
package io.pushplanet.load.node;

import org.jspecify.annotations.NullMarked;
