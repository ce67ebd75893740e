package io.pushplanet.gateway.connection;

import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.springframework.boot.context.properties.bind.DefaultValue;

/// How many connections a credential gets at its provider, and how long each step may take.
///
/// Few streams on several connections is what HttpComponents does best: it walks every open stream on each write, so that
/// 4 x 25 carries more than 1 x 100 or 1 x 900.
///
/// @param perCredential connections to one endpoint with one credential
/// @param streams requests at a time on one connection
/// @param connectTimeout for connecting with the TLS handshake, and for a free stream
/// @param requestTimeout from the write of a request to the end of its answer; a connection that misses it is closed
/// @param idleTimeout a connection unused for so long is closed
/// @param pingAfter a connection silent for so long is asked with a PING before it is used
public record ConnectionSettings(
    @Positive @DefaultValue("4") int perCredential,
    @Positive @DefaultValue("25") int streams,
    @NotNull @DefaultValue("5s") Duration connectTimeout,
    @NotNull @DefaultValue("10s") Duration requestTimeout,
    @NotNull @DefaultValue("30m") Duration idleTimeout,
    @NotNull @DefaultValue("1m") Duration pingAfter) {}
