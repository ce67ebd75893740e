/// One answer for one Idempotency-Key.
@NullMarked
package io.pushplanet.dispatcher.idempotency;

import org.jspecify.annotations.NullMarked;
