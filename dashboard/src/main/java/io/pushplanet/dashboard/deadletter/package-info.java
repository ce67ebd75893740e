/// Messages that no process could read or handle: look, replay, drop.
@NullMarked
package io.pushplanet.dashboard.deadletter;

import org.jspecify.annotations.NullMarked;
