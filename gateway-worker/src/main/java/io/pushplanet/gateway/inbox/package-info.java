/// Parks what a device gets when it connects.
@NullMarked
package io.pushplanet.gateway.inbox;

import org.jspecify.annotations.NullMarked;
