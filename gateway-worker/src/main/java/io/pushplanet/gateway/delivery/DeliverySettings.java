package io.pushplanet.gateway.delivery;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Positive;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// How much the worker takes on at once.
///
/// @param prefetch AMQP messages in hand per lane at least; each may carry 64 pushes
/// @param maxInFlight unanswered requests per lane, of which one app may have four fifths:
///     20,000/s over a round trip of 150 ms take 3,000. A lane also has at most so many AMQP
///     messages in hand, and at most 16 MB of them
/// @param maxErrors how many errors of our own a message may cause, over about two minutes for the
///     default, before it fails and becomes a dead letter
@Validated
@ConfigurationProperties(prefix = "gateway.delivery", ignoreUnknownFields = false)
record DeliverySettings(
    @Positive @Max(65_535) @DefaultValue("32") int prefetch,
    @Positive @Max(65_535) @DefaultValue("4096") int maxInFlight,
    @Positive @DefaultValue("8") int maxErrors) {}
