/// Pooled HTTP/2 connections to the vendors: one answer per request, within a deadline, whatever
/// the peer does.
@NullMarked
package io.pushplanet.gateway.http2;

import org.jspecify.annotations.NullMarked;
