/// The way over RabbitMQ: its queues, and the coalescing lane with confirms.
@NullMarked
package io.pushplanet.common.lane;

import org.jspecify.annotations.NullMarked;
