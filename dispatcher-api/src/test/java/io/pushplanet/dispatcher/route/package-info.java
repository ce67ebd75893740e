@NullMarked
package io.pushplanet.dispatcher.route;

import org.jspecify.annotations.NullMarked;
