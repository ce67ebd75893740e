package io.pushplanet.gateway.http2;

import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.bind.DefaultValue;

/// How many connections a credential gets at its provider, and how long each step may take.
///
/// @param perCredential connections to one endpoint with one credential, opened as they are needed.
///     FCM allows 100 streams on each, so that 15 carry the quota of a project, 10,000/s, over a
///     round trip of 150 ms
/// @param streams requests at a time on one connection; the peer may allow fewer
/// @param maxConnections connections of one worker, over all credentials. While all are in use, a
///     request with a further credential is not sent, and comes again
/// @param connectTimeout for connecting with the TLS handshake, and for waiting for a free stream
/// @param requestTimeout from the write of a request to the end of its answer; a connection on
///     which nothing was answered meanwhile is closed
/// @param idleTimeout a connection unused for so long is closed
/// @param pingAfter a connection silent for so long must answer a PING before it is used
/// @param deadAfter a connection with requests under way that is silent for so long, and answers no
///     PING either, is closed
public record ConnectionSettings(
    @Positive @DefaultValue("16") int perCredential,
    @Positive @DefaultValue("1000") int streams,
    @Positive @DefaultValue("2000") int maxConnections,
    @NotNull @DurationMin(millis = 1) @DefaultValue("5s") Duration connectTimeout,
    @NotNull @DurationMin(millis = 1) @DefaultValue("10s") Duration requestTimeout,
    @NotNull @DurationMin(millis = 1) @DefaultValue("30m") Duration idleTimeout,
    @NotNull @DurationMin @DefaultValue("1m") Duration pingAfter,
    @NotNull @DurationMin(millis = 1) @DefaultValue("3s") Duration deadAfter) {}
