/// What benchmarks measure with, and the report of what they found.
@NullMarked
package io.pushplanet.load.measure;

import org.jspecify.annotations.NullMarked;
