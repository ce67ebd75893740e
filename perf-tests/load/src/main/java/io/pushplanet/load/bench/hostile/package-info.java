/// Hostile clients of a node, and their effect on the others.
@NullMarked
package io.pushplanet.load.bench.hostile;

import org.jspecify.annotations.NullMarked;
