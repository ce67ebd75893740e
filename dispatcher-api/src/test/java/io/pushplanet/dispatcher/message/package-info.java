@NullMarked
package io.pushplanet.dispatcher.message;

import org.jspecify.annotations.NullMarked;
