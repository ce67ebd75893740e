package io.pushplanet.gateway.node;

import io.pushplanet.common.access.Secret;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// How the worker reaches the connection managers' trusted listeners.
///
/// @param user the user name at the nodes; must equal `cm.gateway-user`
/// @param password password of `gateway.node.user`; must equal `cm.gateway-password`
/// @param maxPublishing frames not yet acknowledged by the node, for each priority: each has a
///     connection of its own
/// @param answerWithin how long a frame's targets may take where no fallback is waiting
@Validated
@ConfigurationProperties(prefix = "gateway.node", ignoreUnknownFields = false)
public record NodeSettings(
    @NotBlank @DefaultValue("gateway") String user,
    @NotNull(message = "gateway.node.password is missing: it must equal cm.gateway-password")
        Secret password,
    @Positive @DefaultValue("16") int maxPublishing,
    @NotNull @DurationMin(millis = 1) @DefaultValue("10s") Duration answerWithin) {}
