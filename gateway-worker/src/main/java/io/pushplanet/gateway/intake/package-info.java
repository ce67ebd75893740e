/// Takes messages from the queues and acknowledges them when their effects are durable.
@NullMarked
package io.pushplanet.gateway.intake;

import org.jspecify.annotations.NullMarked;
