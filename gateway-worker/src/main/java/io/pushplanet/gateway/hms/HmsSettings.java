package io.pushplanet.gateway.hms;

import io.pushplanet.gateway.connection.HttpPool;
import io.pushplanet.gateway.connection.HttpsAddress;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Where Push Kit is, and how requests reach it.
///
/// @param endpoint where messages are sent; `https` only
/// @param tokenEndpoint where access tokens are fetched; `http` only to this machine
/// @param trustedCertificates authorities besides the JDK's, a PEM file; for simulators
/// @param connections connections, and so requests at a time; each request carries up to 1,000
///     devices
/// @param connectTimeout for looking up the name, for a free connection, and for connecting with
///     the TLS handshake
/// @param requestTimeout from the write of a request to the end of its answer
/// @param idleTimeout a connection unused for so long is closed
@Validated
@ConfigurationProperties(prefix = "gateway.hms", ignoreUnknownFields = false)
record HmsSettings(
    @NotNull @DefaultValue("https://push-api.cloud.huawei.com") URI endpoint,
    @NotNull @DefaultValue("https://oauth-login.cloud.huawei.com/oauth2/v3/token")
        URI tokenEndpoint,
    @Nullable Path trustedCertificates,
    @Positive @DefaultValue("64") int connections,
    @NotNull @DurationMin(millis = 1) @DefaultValue("5s") Duration connectTimeout,
    @NotNull @DurationMin(millis = 1) @DefaultValue("10s") Duration requestTimeout,
    @NotNull @DurationMin(millis = 1) @DefaultValue("1m") Duration idleTimeout) {
  /// Room for a thousand illegal tokens.
  private static final int MAX_ANSWER_BYTES = 1_024 * 1_024;

  HmsSettings {
    // Its connections have TLS whatever the scheme says, and port 443 if it names none.
    if (!"https".equalsIgnoreCase(endpoint.getScheme())) {
      throw new IllegalArgumentException("gateway.hms.endpoint begins with https://");
    }
    HttpsAddress.check("gateway.hms.endpoint", endpoint);
    HttpsAddress.check("gateway.hms.token-endpoint", tokenEndpoint);
  }

  HttpPool.Bounds bounds() {
    return new HttpPool.Bounds(
        connections, connections, connectTimeout, requestTimeout, idleTimeout, MAX_ANSWER_BYTES);
  }
}
