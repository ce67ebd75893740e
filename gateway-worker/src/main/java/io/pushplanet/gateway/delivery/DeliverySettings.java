package io.pushplanet.gateway.delivery;

import jakarta.validation.constraints.Positive;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// How much the worker takes on at once.
///
/// @param prefetch AMQP messages in hand per lane; each may carry 64 pushes
/// @param mostInFlight requests without an answer per provider
/// @param mostErrors how often a worker may trip over a message, about two minutes for the default, before it fails and is kept
///   in the dead letters
@Validated
@ConfigurationProperties(prefix = "gateway.delivery", ignoreUnknownFields = false)
record DeliverySettings(
    @Positive @DefaultValue("32") int prefetch,
    @Positive @DefaultValue("256") int mostInFlight,
    @Positive @DefaultValue("8") int mostErrors) {}
