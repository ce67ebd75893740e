package io.pushplanet.dashboard;

import io.pushplanet.common.access.Secret;
import jakarta.validation.Valid;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.net.URI;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// @param dispatcherUrl the address to which test pushes and cancellations are sent
/// @param testPushTimeout the longest time that a test push or a cancellation waits for the
///     dispatcher
/// @param maxPasswordChecks how many passwords are checked at once, since each costs much CPU on
///     purpose
/// @param credentialCheckWithin the longest time that an upload waits for a worker to try the
///     credential
/// @param credentialOverlap how long a replaced credential is kept, stands in for one that is
///     refused, and can be rolled back to
/// @param auditRetention how long an entry of the audit log is kept
/// @param bootstrapOperator the admin that is created while there is no operator
@Validated
@ConfigurationProperties(prefix = "dashboard", ignoreUnknownFields = false)
public record DashboardSettings(
    @NotNull @DefaultValue("http://127.0.0.1:8080") URI dispatcherUrl,
    @NotNull @DurationMin(millis = 1) @DefaultValue("5s") Duration testPushTimeout,
    @Positive @DefaultValue("4") int maxPasswordChecks,
    @NotNull @DurationMin @DefaultValue("15s") Duration credentialCheckWithin,
    @NotNull @DurationMin @DefaultValue("1d") Duration credentialOverlap,
    @NotNull @DefaultValue("400d") Duration auditRetention,
    @Valid @NotNull @DefaultValue BootstrapOperator bootstrapOperator) {
  @AssertTrue(message = "dashboard.audit-retention must be positive")
  boolean isKept() {
    return auditRetention.isPositive();
  }

  /// @param name the admin that is created while there is no operator
  /// @param password password of the admin that is created while there is no operator
  public record BootstrapOperator(@Nullable String name, @Nullable Secret password) {}
}
