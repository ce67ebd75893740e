/// Publishing over RabbitMQ: the platform's queues, and the lane that batches items and waits for
/// confirms.
@NullMarked
package io.pushplanet.common.lane;

import org.jspecify.annotations.NullMarked;
