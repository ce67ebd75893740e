package io.pushplanet.gateway.delivery;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Positive;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// How much the worker takes on at once.
///
/// @param prefetch AMQP messages in hand per lane at least; each may carry 64 pushes
/// @param mostInFlight requests without an answer per lane, of which one app has four fifths: 20,000/s over a round trip of
///     150 ms take 3,000. As many AMQP messages come to be in hand where each carries few recipients, 16 MB of them per lane
/// @param mostErrors how often a worker may trip over a message, about two minutes for the default, before it fails and is kept
///   in the dead letters
@Validated
@ConfigurationProperties(prefix = "gateway.delivery", ignoreUnknownFields = false)
record DeliverySettings(
    @Positive @Max(65_535) @DefaultValue("32") int prefetch,
    @Positive @Max(65_535) @DefaultValue("4096") int mostInFlight,
    @Positive @DefaultValue("8") int mostErrors) {}
