/// Who a client says it is and whether that is true.
@NullMarked
package io.pushplanet.cm.handshake;

import org.jspecify.annotations.NullMarked;
