@NullMarked
package io.pushplanet.dispatcher.problem;

import org.jspecify.annotations.NullMarked;
