package io.pushplanet.gateway.hms;

import io.pushplanet.gateway.provider.Rests;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Lets an app rest that has sent to more devices in a second than Huawei allows it, or while
/// Huawei's network is full: 503
/// (https://developer.huawei.com/consumer/en/doc/harmonyos-references/push-msg-freq-control).
/// Huawei keeps the limit secret and changes it; it is at least 6,000
/// (https://help.aliyun.com/document_detail/616229.html). So its answers count, and nothing that we
/// count ourselves. Thread-safe.
final class FlowControl {
  /// Doubled with each refusal in a row.
  static final Duration FIRST_REST = Duration.ofSeconds(1);

  static final Duration LONGEST_REST = Duration.ofMinutes(1);
  private static final int MAX_APPS = 10_000;

  private final Rests apps;

  FlowControl(Clock clock) {
    this.apps = new Rests(clock, FIRST_REST, LONGEST_REST, MAX_APPS);
  }

  /// How long an app still rests; empty when it may send.
  Optional<Duration> rest(String app) {
    return apps.rest(app);
  }

  /// @param asked the rest that Huawei asks for; null when it asks for none
  /// @return how long it rests now
  Duration refused(String app, @Nullable Duration asked) {
    return apps.refused(app, asked);
  }

  /// An answer that was no refusal.
  void taken(String app) {
    apps.taken(app);
  }
}
