/// Reports what this process can do.
@NullMarked
package io.pushplanet.dispatcher.health;

import org.jspecify.annotations.NullMarked;
