/// Reads the audience of a message and finds its devices.
@NullMarked
package io.pushplanet.dispatcher.audience;

import org.jspecify.annotations.NullMarked;
