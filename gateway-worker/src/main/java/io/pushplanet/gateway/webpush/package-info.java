/// Web Push: browsers, by the push service of their maker (RFC 8030, 8188, 8291, 8292).
@NullMarked
package io.pushplanet.gateway.webpush;

import org.jspecify.annotations.NullMarked;
