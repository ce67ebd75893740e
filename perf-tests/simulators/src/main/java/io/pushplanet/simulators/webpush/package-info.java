/// A push service with its browsers, by RFC 8030, 8188, 8291 and 8292.
@NullMarked
package io.pushplanet.simulators.webpush;

import org.jspecify.annotations.NullMarked;
