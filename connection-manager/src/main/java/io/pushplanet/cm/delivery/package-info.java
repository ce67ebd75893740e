/// Frames from gateways to sessions, and outcomes back.
@NullMarked
package io.pushplanet.cm.delivery;

import org.jspecify.annotations.NullMarked;
