package io.pushplanet.dispatcher.settings;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.PositiveOrZero;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// What an operator can set here.
///
/// @param mqttHost where registration tells devices to connect to
/// @param mqttPort the port it tells them for plain MQTT
/// @param mqttTlsPort the port it tells them for MQTT over TLS
/// @param credentialValidity how long a device's MQTT password holds, unless the device is deleted: that ends it, too
/// @param keyCache how long a known API key stays in memory when no change is told
/// @param unknownKeyCache how long an unknown key id stays refused without a look at MySQL
/// @param bodyWithin how long a request's body may take from the first of it that is read to the last
/// @param sessionFlush how often session updates go from Redis to MySQL
/// @param messagesPerSecond what one app may send through this process; 0 is without limit. A message counts once, for however many
/// devices it is; a batch counts each of its messages, and one of more than a second's worth is taken after a second without sends,
/// and nothing more until it is paid off
@Validated
@ConfigurationProperties(prefix = "dispatcher", ignoreUnknownFields = false)
public record DispatcherSettings(
    @NotBlank @DefaultValue("127.0.0.1") String mqttHost,
    @Positive @Max(65_535) @DefaultValue("1883") int mqttPort,
    @Positive @Max(65_535) @DefaultValue("8883") int mqttTlsPort,
    @NotNull @DefaultValue("90d") Duration credentialValidity,
    @NotNull @DefaultValue("12h") Duration keyCache,
    @NotNull @DefaultValue("5s") Duration unknownKeyCache,
    @NotNull @DefaultValue("20s") Duration bodyWithin,
    @NotNull @DefaultValue("500ms") Duration sessionFlush,
    @PositiveOrZero @DefaultValue("0") int messagesPerSecond) {}
