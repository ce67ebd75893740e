package io.pushplanet.gateway.statistics;

import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.hibernate.validator.constraints.time.DurationMin;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// How a worker of the role `statistics` takes and writes events.
///
/// @param prefetch AMQP messages in hand, of `push.accepted` and of `push.events`
/// @param earlyPrefetch AMQP messages in hand of `push.early`: receipts that came before their
///     deliveries or that a device made up, and uplinks of an app while others of it are being
///     written
/// @param earlyPause how long an event in `push.early` waits for its next try
/// @param writers transactions at once; each takes a connection of the database's pool
/// @param gather how long events may wait for others to be written with
/// @param maxEvents events written in one transaction
/// @param refusedFor how long the database must have refused an event before it is buried in the
///     dead letters. Meanwhile its AMQP message goes round
/// @param refusedTimes how often the database must also have refused an event before it is buried
///     in the dead letters
/// @param retentionDays whole days of messages, deliveries and statistics kept before today
/// @param uplinkRetention older uplinks are deleted, whether the app's backend has read
///     them or not
@Validated
@ConfigurationProperties(prefix = "gateway.statistics", ignoreUnknownFields = false)
record StatisticsSettings(
    @Positive @DefaultValue("200") int prefetch,
    @Positive @DefaultValue("32") int earlyPrefetch,
    @NotNull @DurationMin(millis = 1) @DefaultValue("1s") Duration earlyPause,
    @Positive @DefaultValue("2") int writers,
    @NotNull @DurationMin @DefaultValue("100ms") Duration gather,
    @Positive @DefaultValue("2000") int maxEvents,
    @NotNull @DurationMin @DefaultValue("5m") Duration refusedFor,
    @Positive @DefaultValue("10") int refusedTimes,
    @Positive @DefaultValue("30") int retentionDays,
    @NotNull @DefaultValue("30d") Duration uplinkRetention) {
  @AssertTrue(message = "gateway.statistics.uplink-retention must be positive")
  boolean isUplinkKept() {
    return uplinkRetention.isPositive();
  }

  Writing writing() {
    return new Writing(writers, gather, maxEvents, prefetch);
  }

  /// How [StatisticsIntake] writes.
  ///
  /// @param prefetch of `push.accepted` and of `push.events`, each
  record Writing(int writers, Duration gather, int maxEvents, int prefetch) {}
}
