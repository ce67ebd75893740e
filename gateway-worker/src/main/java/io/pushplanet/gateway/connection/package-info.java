/// Pooled HTTP/2 connections to the vendors: one answer per request, within a deadline, whatever the peer does.
@NullMarked
package io.pushplanet.gateway.connection;

import org.jspecify.annotations.NullMarked;
