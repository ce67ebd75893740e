package io.pushplanet.gateway.credential;

import jakarta.validation.constraints.NotNull;
import java.time.Duration;
import java.util.List;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// How apps' credentials are looked after.
///
/// @param period how often credentials that are to be tried are looked for
/// @param expiryPeriod how often expiry dates are looked at, and the metrics of credentials are
///     renewed
/// @param expiryAlertDays how many days before a credential expires operators are alerted, once for
///     each number
@Validated
@ConfigurationProperties(prefix = "gateway.credentials", ignoreUnknownFields = false)
record CredentialSettings(
    @NotNull @DurationMin(millis = 1) @DefaultValue("500ms") Duration period,
    @NotNull @DurationMin(millis = 1) @DefaultValue("15s") Duration expiryPeriod,
    @NotNull @DefaultValue({"30", "14", "7", "1"}) List<Integer> expiryAlertDays) {
  CredentialSettings {
    expiryAlertDays = List.copyOf(expiryAlertDays);
  }
}
