/// The devices and attackers around the servers, in processes of their own.
@NullMarked
package io.pushplanet.load.crowd;

import org.jspecify.annotations.NullMarked;
