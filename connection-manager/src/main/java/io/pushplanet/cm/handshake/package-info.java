/// Reads a CONNECT and authenticates its client.
@NullMarked
package io.pushplanet.cm.handshake;

import org.jspecify.annotations.NullMarked;
