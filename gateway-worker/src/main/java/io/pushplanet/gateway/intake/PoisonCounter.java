package io.pushplanet.gateway.intake;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.access.Sha256;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataIntegrityViolationException;

/// Counts how often the handler has failed at an AMQP message in this process. The broker does not
/// tell: only quorum queues count deliveries, each version of RabbitMQ in its own way, and the
/// embedded broker does not count. Each process counts for itself, and a restart begins anew; then
/// the message goes round a few times more, and nothing is lost.
///
/// Counted are only failures that show a bug of ours, or a row that the database will never take. A
/// server that is away is waited for, however long. Exceptions that may also mean that, such as
/// IllegalStateException, do not count. Thread-safe.
final class PoisonCounter {
  /// After so many failures a message's items are handled one by one.
  static final int MAX = 5;

  static final int MAX_REMEMBERED = 10_000;

  /// Failures by the message's digest, that of the oldest failure first.
  @GuardedBy("this")
  private final SequencedMap<String, Integer> tripped = new LinkedHashMap<>();

  /// Counts one more failure. When it says true, the message's count begins anew.
  synchronized boolean tooMany(byte[] body, Throwable why) {
    if (!isBug(why)) {
      return false;
    }
    String message = Sha256.hex(body);
    Integer before = tripped.remove(message);
    int times = before == null ? 1 : before + 1;
    if (times >= MAX) {
      return true;
    }
    tripped.put(message, times);
    if (tripped.size() > MAX_REMEMBERED) {
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
