/// Writes messages' events into MySQL, in bulk and idempotently.
@NullMarked
package io.pushplanet.gateway.statistics;

import org.jspecify.annotations.NullMarked;
