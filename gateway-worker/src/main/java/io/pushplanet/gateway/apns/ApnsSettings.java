package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.connection.HttpsAddress;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.http2.ConnectionSettings;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Where APNs is, and how often its channels and tokens are looked at.
///
/// @param productionEndpoint where production pushes are sent; `http` only to this machine
/// @param sandboxEndpoint where pushes of development builds are sent; `http` only to this machine
/// @param productionChannelsEndpoint where broadcast channels of production are made and deleted;
///     `http` only to this machine
/// @param sandboxChannelsEndpoint where broadcast channels of development builds are made and
///     deleted; `http` only to this machine
/// @param channelsPeriod how often channels that are to be made or deleted are looked for
/// @param tokensPeriod how often the provider tokens in use are compared with those that the other
///     workers know from Redis
/// @param trustedCertificates authorities besides the JDK's, a PEM file; for simulators
@Validated
@ConfigurationProperties(prefix = "gateway.apns", ignoreUnknownFields = false)
record ApnsSettings(
    @NotNull @DefaultValue("https://api.push.apple.com:443") URI productionEndpoint,
    @NotNull @DefaultValue("https://api.sandbox.push.apple.com:443") URI sandboxEndpoint,
    @NotNull @DefaultValue("https://api-manage-broadcast.push.apple.com:2196")
        URI productionChannelsEndpoint,
    @NotNull @DefaultValue("https://api-manage-broadcast.sandbox.push.apple.com:2195")
        URI sandboxChannelsEndpoint,
    @NotNull @DurationMin(millis = 1) @DefaultValue("500ms") Duration channelsPeriod,
    @NotNull @DurationMin(millis = 1) @DefaultValue("1s") Duration tokensPeriod,
    @Nullable Path trustedCertificates,
    @Valid @NotNull @DefaultValue @NestedConfigurationProperty ConnectionSettings connection) {
  ApnsSettings {
    HttpsAddress.check("gateway.apns.production-endpoint", productionEndpoint);
    HttpsAddress.check("gateway.apns.sandbox-endpoint", sandboxEndpoint);
    HttpsAddress.check("gateway.apns.production-channels-endpoint", productionChannelsEndpoint);
    HttpsAddress.check("gateway.apns.sandbox-channels-endpoint", sandboxChannelsEndpoint);
  }

  Trust trust() {
    return Trust.with("gateway.apns.trusted-certificates", trustedCertificates);
  }

  URI endpoint(String environment) {
    return environment.equals("sandbox") ? sandboxEndpoint : productionEndpoint;
  }

  URI channelsEndpoint(String environment) {
    return environment.equals("sandbox") ? sandboxChannelsEndpoint : productionChannelsEndpoint;
  }
}
