/// How fast an app may send, and how much of what is costly is done at once.
@NullMarked
package io.pushplanet.dispatcher.limit;

import org.jspecify.annotations.NullMarked;
