/// What deliveries need beside statements: a circuit breaker for a MySQL that is away, permits for
/// its connections, transactions and what repeats them after a deadlock.
@NullMarked
package io.pushplanet.gateway.database;

import org.jspecify.annotations.NullMarked;
