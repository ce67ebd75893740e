/// What each lane may have in hand: places at its provider, waits for devices, turns at MySQL.
@NullMarked
package io.pushplanet.gateway.lane;

import org.jspecify.annotations.NullMarked;
