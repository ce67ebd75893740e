/// What travels between processes: queues, batches, frames.
@NullMarked
package io.pushplanet.common.wire;

import org.jspecify.annotations.NullMarked;
