/// Parks messages for devices until they connect, and ends those that have waited too long.
@NullMarked
package io.pushplanet.gateway.inbox;

import org.jspecify.annotations.NullMarked;
