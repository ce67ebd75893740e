/// When a message is tried again.
@NullMarked
package io.pushplanet.gateway.retry;

import org.jspecify.annotations.NullMarked;
