package io.pushplanet.gateway.alert;

import io.pushplanet.common.access.Secret;
import jakarta.validation.Valid;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.NotNull;
import java.net.URI;
import java.time.Duration;
import java.util.Base64;
import java.util.EnumSet;
import java.util.Set;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Where operators are told, besides the dashboard.
///
/// @param webhookUrl where alerts are posted, in the form of Standard Webhooks; empty = nowhere
/// @param webhookSecret key that signs the webhook's requests: 24 to 64 bytes in base64, with or
///     without `whsec_`
/// @param mail the server that mails them
/// @param requestTimeout from connecting to the end of the answer, at the webhook and at the mail
///     server
/// @param giveUpAfter an alert that is older is not sent any more
/// @param period how often alerts that are due are looked for
/// @param retention an alert that is older is deleted, except for one of a certificate in use, so
///     that it is not told again
@Validated
@ConfigurationProperties(prefix = "gateway.alerts", ignoreUnknownFields = false)
record AlertSettings(
    @Nullable URI webhookUrl,
    @NotNull @DefaultValue("") Secret webhookSecret,
    @Valid @NotNull @DefaultValue @NestedConfigurationProperty MailSettings mail,
    @NotNull @DurationMin(millis = 1) @DefaultValue("10s") Duration requestTimeout,
    @NotNull @DurationMin(millis = 1) @DefaultValue("1d") Duration giveUpAfter,
    @NotNull @DurationMin(millis = 1) @DefaultValue("1s") Duration period,
    @NotNull @DefaultValue("90d") Duration retention) {
  private static final int SHORTEST_KEY_BYTES = 24;
  private static final int LONGEST_KEY_BYTES = 64;

  AlertSettings {
    // Its address is not told, because it may hold a secret.
    if (webhookUrl != null && !isWeb(webhookUrl)) {
      throw new IllegalArgumentException(
          "gateway.alerts.webhook-url must be https:// or http:// and a host");
    }
  }

  private static boolean isWeb(URI address) {
    return address.getHost() != null
        && ("https".equalsIgnoreCase(address.getScheme())
            || "http".equalsIgnoreCase(address.getScheme()));
  }

  @AssertTrue(
      message =
          "gateway.alerts.webhook-secret must be 24 to 64 bytes in base64: openssl rand -base64 32")
  boolean isSigned() {
    int bytes = webhookKey().length;
    return webhookUrl == null || (bytes >= SHORTEST_KEY_BYTES && bytes <= LONGEST_KEY_BYTES);
  }

  /// Signs the webhook's requests; empty where the secret is not base64.
  byte[] webhookKey() {
    String text = webhookSecret.reveal().strip();
    try {
      return Base64.getDecoder().decode(text.startsWith("whsec_") ? text.substring(6) : text);
    } catch (IllegalArgumentException _) {
      return new byte[0];
    }
  }

  @AssertTrue(
      message =
          "gateway.alerts.retention must be positive, and not below gateway.alerts.give-up-after")
  boolean isKeptUntilGivenUp() {
    return retention.isPositive() && retention.compareTo(giveUpAfter) >= 0;
  }

  Set<AlertChannel.Name> channels() {
    Set<AlertChannel.Name> channels = EnumSet.noneOf(AlertChannel.Name.class);
    if (webhookUrl != null) {
      channels.add(AlertChannel.Name.WEBHOOK);
    }
    if (mail.isOn()) {
      channels.add(AlertChannel.Name.MAIL);
    }
    return channels;
  }
}
