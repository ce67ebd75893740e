package io.pushplanet.gateway.alert;

import io.pushplanet.common.access.Secret;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.NotNull;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Who is told besides those who look at the dashboard.
///
/// @param webhookUrl where alerts are posted, in the form of Standard Webhooks; empty = nowhere
/// @param webhookSecret what they are signed with: 24 to 64 bytes in base64, with or without `whsec_`
/// @param requestTimeout from connecting to the end of the answer
/// @param giveUpAfter an alert that is older is not posted any more
/// @param period how often what is to be posted is looked for
@Validated
@ConfigurationProperties(prefix = "gateway.alerts", ignoreUnknownFields = false)
record AlertSettings(
    @Nullable URI webhookUrl,
    @NotNull @DefaultValue("") Secret webhookSecret,
    @NotNull @DefaultValue("10s") Duration requestTimeout,
    @NotNull @DefaultValue("1d") Duration giveUpAfter,
    @NotNull @DefaultValue("1s") Duration period) {
  @AssertTrue(message = "gateway.alerts.webhook-secret is missing: openssl rand -base64 32")
  boolean isSigned() {
    return webhookUrl == null || !webhookSecret.reveal().isBlank();
  }
}
