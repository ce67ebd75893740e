@NullMarked
package io.pushplanet.dispatcher.audience;

import org.jspecify.annotations.NullMarked;
