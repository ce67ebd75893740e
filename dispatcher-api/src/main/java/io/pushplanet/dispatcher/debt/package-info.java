/// Data that Redis still has to forget.
@NullMarked
package io.pushplanet.dispatcher.debt;

import org.jspecify.annotations.NullMarked;
