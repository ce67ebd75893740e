/// The story of one message on its way to its devices.
@NullMarked
package io.pushplanet.gateway.delivery;

import org.jspecify.annotations.NullMarked;
