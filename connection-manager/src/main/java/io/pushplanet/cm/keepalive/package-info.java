/// Learns how long idle connections survive in each network.
@NullMarked
package io.pushplanet.cm.keepalive;

import org.jspecify.annotations.NullMarked;
