/// Connected devices, and the messages on their way to each.
@NullMarked
package io.pushplanet.cm.session;

import org.jspecify.annotations.NullMarked;
