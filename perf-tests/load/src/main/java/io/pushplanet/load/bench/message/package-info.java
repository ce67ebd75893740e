/// Messages through a running platform.
@NullMarked
package io.pushplanet.load.bench.message;

import org.jspecify.annotations.NullMarked;
