@NullMarked
package io.pushplanet.dispatcher.access;

import org.jspecify.annotations.NullMarked;
