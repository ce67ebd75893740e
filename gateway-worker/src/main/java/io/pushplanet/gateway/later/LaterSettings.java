package io.pushplanet.gateway.later;

import jakarta.validation.constraints.NotNull;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// How often a worker of the role `later` looks for messages that are due or over.
///
/// @param period how often due rows are looked for
/// @param sweep how often inboxes and broadcasts are searched for messages that have waited too
///     long
@Validated
@ConfigurationProperties(prefix = "gateway.later", ignoreUnknownFields = false)
record LaterSettings(
    @NotNull @DurationMin(millis = 1) @DefaultValue("250ms") Duration period,
    @NotNull @DurationMin(millis = 1) @DefaultValue("1s") Duration sweep) {}
