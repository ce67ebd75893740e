@NullMarked
package io.pushplanet.dispatcher.device;

import org.jspecify.annotations.NullMarked;
