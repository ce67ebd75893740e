/// Reads request bodies strictly: every wrong field is named by its JSON pointer.
@NullMarked
package io.pushplanet.dispatcher.input;

import org.jspecify.annotations.NullMarked;
