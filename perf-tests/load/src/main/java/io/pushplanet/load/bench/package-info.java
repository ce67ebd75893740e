/// The benchmarks of `./pushplanet bench`.
@NullMarked
package io.pushplanet.load.bench;

import org.jspecify.annotations.NullMarked;
