/// Publishes to the broker and waits for its confirms.
@NullMarked
package io.pushplanet.dispatcher.lane;

import org.jspecify.annotations.NullMarked;
