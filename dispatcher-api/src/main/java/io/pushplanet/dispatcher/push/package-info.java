/// Reads, checks and publishes messages.
@NullMarked
package io.pushplanet.dispatcher.push;

import org.jspecify.annotations.NullMarked;
