package io.pushplanet.gateway.fanout;

import jakarta.validation.constraints.Positive;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// How a worker of the role `fanout` expands broadcasts.
///
/// @param prefetch broadcasts of each priority that one worker expands side by side; each takes a
///     connection to MySQL
@Validated
@ConfigurationProperties(prefix = "gateway.fanout", ignoreUnknownFields = false)
record FanoutSettings(@Positive @DefaultValue("2") int prefetch) {}
