package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.connection.ConnectionSettings;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Where APNs is.
///
/// @param productionEndpoint where production pushes are sent
/// @param sandboxEndpoint where pushes of development builds are sent
/// @param trustedCertificates authorities besides the JDK's, a PEM file; for simulators
@Validated
@ConfigurationProperties(prefix = "gateway.apns", ignoreUnknownFields = false)
record ApnsSettings(
    @NotNull @DefaultValue("https://api.push.apple.com:443") URI productionEndpoint,
    @NotNull @DefaultValue("https://api.sandbox.push.apple.com:443") URI sandboxEndpoint,
    @Nullable Path trustedCertificates,
    @Valid @NotNull @DefaultValue @NestedConfigurationProperty ConnectionSettings connection) {
  URI endpoint(String environment) {
    return environment.equals("sandbox") ? sandboxEndpoint : productionEndpoint;
  }
}
