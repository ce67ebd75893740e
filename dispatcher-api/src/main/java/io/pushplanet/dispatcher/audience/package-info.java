/// Whom a message is for, and which devices that are.
@NullMarked
package io.pushplanet.dispatcher.audience;

import org.jspecify.annotations.NullMarked;
