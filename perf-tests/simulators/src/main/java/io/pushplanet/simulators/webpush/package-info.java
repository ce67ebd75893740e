/// A push service with the browsers behind it, as RFC 8030, 8188, 8291 and 8292 ask for.
@NullMarked
package io.pushplanet.simulators.webpush;

import org.jspecify.annotations.NullMarked;
