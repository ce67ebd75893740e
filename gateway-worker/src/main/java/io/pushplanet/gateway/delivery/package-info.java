/// How one message reaches its devices, and what becomes of it.
@NullMarked
package io.pushplanet.gateway.delivery;

import org.jspecify.annotations.NullMarked;
