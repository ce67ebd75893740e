/// Servers that a benchmark starts, and their cost.
@NullMarked
package io.pushplanet.load.node;

import org.jspecify.annotations.NullMarked;
