@NullMarked
package io.pushplanet.dispatcher.idempotency;

import org.jspecify.annotations.NullMarked;
