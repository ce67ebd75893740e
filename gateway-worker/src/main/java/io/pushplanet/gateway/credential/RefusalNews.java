package io.pushplanet.gateway.credential;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.common.message.AppId;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// Decides which refusals of credentials are worth a line in the log: all requests under way with
/// one credential get the same answer, and some refusals pause nothing. `pushplanet.provider.send`
/// counts them all, and each message's timeline has its own. Thread-safe.
public final class RefusalNews {
  static final Duration TOLD_EVERY = Duration.ofHours(1);

  private static final int MAX = 10_000;

  private record Refusal(AppId app, String fingerprint, String reason) {}

  private final Cache<Refusal, Boolean> told;

  public RefusalNews(Clock clock) {
    told =
        Caffeine.newBuilder()
            .maximumSize(MAX)
            .expireAfterWrite(TOLD_EVERY)
            .ticker(() -> TimeUnit.MILLISECONDS.toNanos(clock.millis()))
            .build();
  }

  /// @param reason the provider's word
  /// @return whether to log it now: once an hour, and at once for another secret
  public boolean isNews(AppId app, Credential credential, String reason) {
    Refusal refusal = new Refusal(app, credential.fingerprint(), reason);
    return told.asMap().putIfAbsent(refusal, true) == null;
  }
}
