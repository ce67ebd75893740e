@NullMarked
package io.pushplanet.dispatcher.lane;

import org.jspecify.annotations.NullMarked;
