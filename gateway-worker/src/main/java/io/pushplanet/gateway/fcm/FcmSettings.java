package io.pushplanet.gateway.fcm;

import io.pushplanet.gateway.connection.ConnectionSettings;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.net.URI;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Where FCM is.
///
/// @param endpoint where messages are sent
/// @param tokenEndpoint where access tokens are fetched, instead of the service account's `token_uri`
/// @param messagesPerMinute of one project that all workers together send at most: Google's quota
/// @param trustedCertificates authorities besides the JDK's, a PEM file; for simulators
@Validated
@ConfigurationProperties(prefix = "gateway.fcm", ignoreUnknownFields = false)
record FcmSettings(
    @NotNull @DefaultValue("https://fcm.googleapis.com") URI endpoint,
    @Nullable URI tokenEndpoint,
    @Positive @DefaultValue("600000") int messagesPerMinute,
    @Nullable Path trustedCertificates,
    @Valid @NotNull @DefaultValue @NestedConfigurationProperty ConnectionSettings connection) {}
