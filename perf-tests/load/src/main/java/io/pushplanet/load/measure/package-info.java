/// The meters of the benchmarks, and the report of their results.
@NullMarked
package io.pushplanet.load.measure;

import org.jspecify.annotations.NullMarked;
