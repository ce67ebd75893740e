/// Accepts messages, tells their state, cancels them.
@NullMarked
package io.pushplanet.dispatcher.push;

import org.jspecify.annotations.NullMarked;
