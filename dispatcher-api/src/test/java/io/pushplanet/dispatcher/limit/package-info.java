@NullMarked
package io.pushplanet.dispatcher.limit;

import org.jspecify.annotations.NullMarked;
