@NullMarked
package io.pushplanet.dispatcher;

import org.jspecify.annotations.NullMarked;
