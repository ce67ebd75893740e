/// How fast an app may send, and how much costly work is done at once.
@NullMarked
package io.pushplanet.dispatcher.limit;

import org.jspecify.annotations.NullMarked;
