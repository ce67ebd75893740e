package io.pushplanet.gateway.webpush;

import io.pushplanet.gateway.connection.HttpPool;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Which push services are reached, and how. A subscription's endpoint is named by the app's user:
/// these settings and [Destinations] decide whether it is used.
///
/// @param allowedHosts the only hosts that are sent to: `push.example.com`, or `*.example.com` for
///     all below; empty = every host with public addresses
/// @param trustedOrigins origins such as `https://localhost:8443` whose addresses may be private;
///     for simulators
/// @param trustedCertificates authorities besides the JDK's, a PEM file; for simulators
/// @param connections connections to all hosts together
/// @param connectionsPerHost connections, and so requests at a time, to one host
/// @param connectTimeout for looking up a name, for room at the host and among all hosts, for a
///     free connection, and for connecting with the TLS handshake
/// @param requestTimeout from the write of a request to the end of its answer
/// @param idleTimeout a connection unused for so long is closed
@Validated
@ConfigurationProperties(prefix = "gateway.webpush", ignoreUnknownFields = false)
record WebPushSettings(
    @NotNull @DefaultValue List<String> allowedHosts,
    @NotNull @DefaultValue List<URI> trustedOrigins,
    @Nullable Path trustedCertificates,
    @Positive @DefaultValue("32") int connectionsPerHost,
    @Positive @DefaultValue("256") int connections,
    @NotNull @DurationMin(millis = 1) @DefaultValue("5s") Duration connectTimeout,
    @NotNull @DurationMin(millis = 1) @DefaultValue("10s") Duration requestTimeout,
    @NotNull @DurationMin(millis = 1) @DefaultValue("1m") Duration idleTimeout) {
  private static final int MAX_ANSWER_BYTES = 64 * 1_024;

  WebPushSettings {
    allowedHosts = List.copyOf(allowedHosts);
    trustedOrigins = List.copyOf(trustedOrigins);
  }

  HttpPool.Bounds bounds() {
    return new HttpPool.Bounds(
        connectionsPerHost,
        connections,
        connectTimeout,
        requestTimeout,
        idleTimeout,
        MAX_ANSWER_BYTES);
  }
}
