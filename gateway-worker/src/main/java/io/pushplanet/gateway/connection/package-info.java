/// What all connections to vendors have in common, and a pool with one request at a time on each
/// connection.
@NullMarked
package io.pushplanet.gateway.connection;

import org.jspecify.annotations.NullMarked;
