/// What all ways to a vendor have in common, and the way of one request at a time on each connection.
@NullMarked
package io.pushplanet.gateway.connection;

import org.jspecify.annotations.NullMarked;
