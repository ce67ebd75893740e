/// The data between processes, as bytes: batches and frames.
@NullMarked
package io.pushplanet.common.wire;

import org.jspecify.annotations.NullMarked;
