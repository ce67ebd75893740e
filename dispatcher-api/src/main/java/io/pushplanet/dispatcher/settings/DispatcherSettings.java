package io.pushplanet.dispatcher.settings;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.PositiveOrZero;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// The settings of the dispatcher.
///
/// @param mqttHost the host that registration gives devices for MQTT
/// @param mqttPort the port that registration gives devices for plain MQTT
/// @param mqttTlsPort the port that registration gives devices for MQTT over TLS
/// @param credentialValidity how long a device's MQTT password is valid, unless the device is
///     deleted
/// @param keyCache how long a known API key stays in memory when no change is reported
/// @param unknownKeyCache how long an unknown key id is refused without a look at MySQL
/// @param bodyWithin how long a request's body may take, from its first byte that is read to its
///     last
/// @param sessionFlush how often session updates go from Redis to MySQL
/// @param idempotencyKept how long an Idempotency-Key keeps the answer of its request in Redis;
///     after that, a repeat sends a new message
/// @param messagesPerSecond how many messages one app may send a second through this process; 0
///     means no limit. A message counts once, for however many devices it is. A batch counts each
///     of its messages; a batch of more than a second's worth is accepted after a second without
///     sends, and nothing more until it is paid off. A repeat that gets the answer of its
///     Idempotency-Key does not count, nor does a dead letter that an operator replays
@Validated
@ConfigurationProperties(prefix = "dispatcher", ignoreUnknownFields = false)
public record DispatcherSettings(
    @NotBlank @DefaultValue("127.0.0.1") String mqttHost,
    @Positive @Max(65_535) @DefaultValue("1883") int mqttPort,
    @Positive @Max(65_535) @DefaultValue("8883") int mqttTlsPort,
    @NotNull @DurationMin(seconds = 1) @DefaultValue("90d") Duration credentialValidity,
    @NotNull @DurationMin(millis = 1) @DefaultValue("12h") Duration keyCache,
    @NotNull @DurationMin @DefaultValue("5s") Duration unknownKeyCache,
    @NotNull @DurationMin(millis = 1) @DefaultValue("20s") Duration bodyWithin,
    @NotNull @DurationMin(millis = 1) @DefaultValue("500ms") Duration sessionFlush,
    @NotNull @DurationMin(seconds = 60) @DefaultValue("24h") Duration idempotencyKept,
    @PositiveOrZero @DefaultValue("0") int messagesPerSecond) {}
