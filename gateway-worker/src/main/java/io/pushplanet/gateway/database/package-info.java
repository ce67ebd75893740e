/// What protects deliveries from a MySQL that is away or slow: a circuit breaker, and permits for
/// its connections.
@NullMarked
package io.pushplanet.gateway.database;

import org.jspecify.annotations.NullMarked;
