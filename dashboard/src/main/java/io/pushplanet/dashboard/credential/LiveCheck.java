package io.pushplanet.dashboard.credential;

import io.pushplanet.common.message.AppId;
import io.pushplanet.dashboard.DashboardSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.springframework.stereotype.Component;

/// Waits until a worker has tried credentials at their provider. The worker does so from the place
/// from which it will send, with the same provider token. Blocks at most
/// `dashboard.credential-check-within`. Thread-safe.
@Component
class LiveCheck {
  private static final Duration LOOKS_EVERY = Duration.ofMillis(100);

  private final Credentials credentials;
  private final Duration deadline;

  LiveCheck(Credentials credentials, DashboardSettings settings) {
    this.credentials = credentials;
    this.deadline = settings.credentialCheckWithin();
  }

  /// @return the credentials afterwards, tried or not
  List<StoredCredential> await(AppId app, List<Long> ids) {
    long endNanos = System.nanoTime() + deadline.toNanos();
    while (true) {
      List<StoredCredential> now =
          ids.stream().map(id -> credentials.one(app, id)).flatMap(Optional::stream).toList();
      if (now.stream().noneMatch(StoredCredential::beingTried) || System.nanoTime() > endNanos) {
        return now;
      }
      try {
        TimeUnit.MILLISECONDS.sleep(LOOKS_EVERY.toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return now;
      }
    }
  }
}
