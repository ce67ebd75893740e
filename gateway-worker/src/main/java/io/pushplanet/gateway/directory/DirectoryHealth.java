package io.pushplanet.gateway.directory;

import io.pushplanet.common.redis.RedisUnavailable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Whether the session directory answered the last look-ups. Logs each change once: while Redis is
/// away hundreds of batches a second get no answer. Thread-safe.
public final class DirectoryHealth {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryHealth.class);

  private final AtomicLong failures = new AtomicLong();
  private final AtomicBoolean away = new AtomicBoolean();

  /// A look-up got no answer.
  public void failed(RedisUnavailable why) {
    failures.incrementAndGet();
    if (!away.getAndSet(true)) {
      LOG.warn("event=directory_away reason=\"{}\"", why.getMessage());
    }
  }

  /// How many look-ups got no answer so far.
  long failures() {
    return failures.get();
  }

  /// It answers, and no look-up has failed for a while.
  void answered() {
    if (away.getAndSet(false)) {
      LOG.info("event=directory_back failed_lookups={}", failures.get());
    }
  }
}
