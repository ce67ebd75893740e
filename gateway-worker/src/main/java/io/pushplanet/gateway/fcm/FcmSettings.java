package io.pushplanet.gateway.fcm;

import io.pushplanet.gateway.connection.HttpsAddress;
import io.pushplanet.gateway.http2.ConnectionSettings;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Where FCM is, and how fast messages leave to it.
///
/// @param endpoint where messages are sent; `http` only to this machine
/// @param tokenEndpoint where access tokens are fetched, instead of the service account's
///     `token_uri`; `http` only to this machine
/// @param messagesPerMinute how many messages of one Firebase project all workers together send in
///     a minute at most: Google's quota
/// @param quarterHourMargin how long before and after each quarter of an hour bulk of priority
///     `normal` waits, as Google asks; 0 = never
/// @param quarterHourSpread the time over which waiting bulk leaves afterwards
/// @param bulkRecipients a message for so many recipients is bulk; they are counted up to 50,000
/// @param trustedCertificates authorities besides the JDK's, a PEM file; for simulators
@Validated
@ConfigurationProperties(prefix = "gateway.fcm", ignoreUnknownFields = false)
record FcmSettings(
    @NotNull @DefaultValue("https://fcm.googleapis.com") URI endpoint,
    @Nullable URI tokenEndpoint,
    @Positive @DefaultValue("600000") int messagesPerMinute,
    @NotNull @DefaultValue("2m") Duration quarterHourMargin,
    @NotNull @DefaultValue("5m") Duration quarterHourSpread,
    @Positive @Max(50_000) @DefaultValue("10000") int bulkRecipients,
    @Nullable Path trustedCertificates,
    @Valid @NotNull @DefaultValue @NestedConfigurationProperty ConnectionSettings connection) {
  private static final Duration HALF_A_QUARTER = Duration.ofSeconds(450);

  FcmSettings {
    HttpsAddress.check("gateway.fcm.endpoint", endpoint);
    if (tokenEndpoint != null) {
      HttpsAddress.check("gateway.fcm.token-endpoint", tokenEndpoint);
    }
    if (quarterHourMargin.isNegative() || quarterHourMargin.compareTo(HALF_A_QUARTER) >= 0) {
      throw new IllegalArgumentException(
          "gateway.fcm.quarter-hour-margin is 0 to less than 7m30s: more leaves no time to send");
    }
    if (quarterHourSpread.isNegative()) {
      throw new IllegalArgumentException("gateway.fcm.quarter-hour-spread is not negative");
    }
  }
}
