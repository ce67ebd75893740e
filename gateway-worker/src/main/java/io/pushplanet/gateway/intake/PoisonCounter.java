package io.pushplanet.gateway.intake;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.access.Sha256;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataIntegrityViolationException;

/// How often AMQP messages have tripped their handler in this process. The broker does not say: only quorum queues count, each
/// version of RabbitMQ in its own way, and the embedded broker has none. Whoever gets a message next counts anew, and a restart
/// forgets; so it goes round a few times more, and nothing is lost.
///
/// Only what shows a bug of ours, or a row that the database will never take, counts. A server that is away is waited for,
/// however long, and exceptions that may mean that too, such as IllegalStateException, are taken for it. Thread-safe.
final class PoisonCounter {
  /// After so many a message's items are handled one by one.
  static final int MOST = 5;

  private static final int MOST_REMEMBERED = 10_000;

  /// By the message's digest; that which has not tripped for the longest time is first.
  @GuardedBy("this")
  private final SequencedMap<String, Integer> tripped = new LinkedHashMap<>();

  /// Counts one more; after too many the count begins anew.
  synchronized boolean tooMany(byte[] body, Throwable why) {
    if (!isBug(why)) {
      return false;
    }
    String message = Sha256.hex(body);
    Integer before = tripped.remove(message);
    int times = before == null ? 1 : before + 1;
    if (times >= MOST) {
      return true;
    }
    tripped.put(message, times);
    if (tripped.size() > MOST_REMEMBERED) {
      tripped.pollFirstEntry();
    }
    return false;
  }

  static boolean isBug(Throwable thrown) {
    if (thrown instanceof DataIntegrityViolationException) {
      return true;
    }
    Throwable cause = NestedExceptionUtils.getRootCause(thrown);
    return switch (cause == null ? thrown : cause) {
      case NullPointerException _,
          IllegalArgumentException _,
          ClassCastException _,
          IndexOutOfBoundsException _,
          ArithmeticException _,
          UnsupportedOperationException _,
          StackOverflowError _ ->
          true;
      default -> false;
    };
  }
}
