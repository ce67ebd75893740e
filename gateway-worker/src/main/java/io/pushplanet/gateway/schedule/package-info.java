/// Runs periodic work on threads of its own.
@NullMarked
package io.pushplanet.gateway.schedule;

import org.jspecify.annotations.NullMarked;
