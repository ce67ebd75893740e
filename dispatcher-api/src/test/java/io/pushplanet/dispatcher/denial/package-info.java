@NullMarked
package io.pushplanet.dispatcher.denial;

import org.jspecify.annotations.NullMarked;
