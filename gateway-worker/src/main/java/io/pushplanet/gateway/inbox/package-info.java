/// Parks messages for devices until they connect.
@NullMarked
package io.pushplanet.gateway.inbox;

import org.jspecify.annotations.NullMarked;
