package io.pushplanet.gateway.fanout;

import jakarta.validation.constraints.Positive;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// How a worker of the role `fanout` expands broadcasts.
///
/// @param maxSteps steps of each priority that one worker does side by side, each for 5,000 devices
///     of a broadcast; each takes a connection to MySQL
@Validated
@ConfigurationProperties(prefix = "gateway.fanout", ignoreUnknownFields = false)
record FanoutSettings(@Positive @DefaultValue("2") int maxSteps) {}
