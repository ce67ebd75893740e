/// What became of a message: state, counts, deliveries; and how it is cancelled.
@NullMarked
package io.pushplanet.dispatcher.message;

import org.jspecify.annotations.NullMarked;
