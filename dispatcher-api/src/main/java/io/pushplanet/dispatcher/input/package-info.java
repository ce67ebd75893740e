/// Reads the bodies of requests strictly: the answer names every wrong field by its JSON pointer.
@NullMarked
package io.pushplanet.dispatcher.input;

import org.jspecify.annotations.NullMarked;
