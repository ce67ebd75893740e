/// What each lane may have in hand: permits for requests to its provider, and long waits for
/// devices.
@NullMarked
package io.pushplanet.gateway.lane;

import org.jspecify.annotations.NullMarked;
