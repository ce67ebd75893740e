/// The input and the result of every benchmark of `./pushplanet bench`, and what they share.
@NullMarked
package io.pushplanet.load.bench;

import org.jspecify.annotations.NullMarked;
