/// The state, counts and deliveries of a message, and its cancellation.
@NullMarked
package io.pushplanet.dispatcher.message;

import org.jspecify.annotations.NullMarked;
