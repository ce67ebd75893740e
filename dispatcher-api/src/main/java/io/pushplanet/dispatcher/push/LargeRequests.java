package io.pushplanet.dispatcher.push;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.dispatcher.limit.Turns;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/// Batches and messages to many named devices take much memory for a short time: some twenty times their body as a tree, and what is
/// published of them. They share a part of the heap, so that no number of them at once fills it. Thread-safe.
@Component
class LargeRequests {
  private static final int KILOBYTE = 1024;

  /// Of the heap, to bytes of bodies that are worked at.
  private static final int PART = 48;

  /// Bodies that wait are bytes only.
  private static final int TIMES_IN_LINE = 2;

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

  /// A device with its tokens, read and encoded, beside a byte of a body.
  private static final int KILOBYTES_OF_DEVICE = 1;

  /// A message to so few is a small one.
  private static final int FEW_NAMED = 64;

  private final Turns turns;

  @Autowired
  LargeRequests() {
    this(Runtime.getRuntime().maxMemory(), LONGEST_WAIT);
  }

  LargeRequests(long heap, Duration longestWait) {
    int kilobytes = Math.clamp(heap / PART / KILOBYTE, 2 * KILOBYTE, Integer.MAX_VALUE / 4);
    this.turns =
        new Turns(
            kilobytes,
            TIMES_IN_LINE * kilobytes,
            longestWait,
            ProblemCode.OVERLOADED,
            "Too many large requests are worked at just now. Send it again, or fewer at once.");
  }

  /// Does the work of a batch in its turn.
  ///
  /// @param bytes of its body
  /// @throws ProblemException 503 where too much else waits, or its turn does not come
  <T> T batch(int bytes, Supplier<T> work) {
    return turns.inTurn(1 + bytes / KILOBYTE, work);
  }

  /// Does the work of a message in its turn, at once if it is not large.
  ///
  /// @throws ProblemException 503 where too much else waits, or its turn does not come
  <T> T message(Audience audience, Supplier<T> work) {
    int named = named(audience);
    return named <= FEW_NAMED ? work.get() : turns.inTurn(named * KILOBYTES_OF_DEVICE, work);
  }

  private static int named(Audience audience) {
    return switch (audience) {
      case Audience.Devices(List<DeviceId> devices) -> devices.size();
      case Audience.Users(List<String> users) -> Math.min(users.size(), Audience.Devices.MOST);
      // Their devices are found later, elsewhere.
      case Audience.Topic _,
          Audience.Tag _,
          Audience.All _,
          Audience.And _,
          Audience.Or _,
          Audience.Not _,
          Audience.ActivityChannel _ ->
          1;
    };
  }
}
