package io.pushplanet.dispatcher.push;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.dispatcher.audience.AudienceResolver;
import io.pushplanet.dispatcher.input.Bodies;
import io.pushplanet.dispatcher.limit.AppTurns;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/// Batches, large messages and those to many named devices take much memory for a short time: some twenty times their body as a
/// tree, and for each device its tokens, read and published. Bodies share a part of the heap, and so do devices, of which an app
/// has half: no number of them at once fills it, holds up the small ones with megabytes of routes, or leaves other apps no turn.
/// Thread-safe.
@Component
class LargeRequests {
  private static final int KILOBYTE = 1024;

  /// Of the heap, to bytes of bodies that are worked at, and to bytes of tokens.
  private static final int PART = 48;

  /// Bodies that wait are bytes only.
  private static final int BODIES_IN_LINE = 2;

  /// Messages that wait have names of devices, and no tokens yet.
  private static final int DEVICES_IN_LINE = 16;

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

  /// The longest token that is registered.
  private static final int KILOBYTES_OF_DEVICE = 4;

  private final AppTurns bodies;
  private final AppTurns devices;

  @Autowired
  LargeRequests() {
    this(Runtime.getRuntime().maxMemory(), LONGEST_WAIT);
  }

  LargeRequests(long heap, Duration longestWait) {
    int kilobytes = Math.clamp(heap / PART / KILOBYTE, 2 * KILOBYTE, Integer.MAX_VALUE / 32);
    this.bodies = turns(kilobytes, BODIES_IN_LINE, longestWait);
    this.devices = turns(kilobytes, DEVICES_IN_LINE, longestWait);
  }

  private static AppTurns turns(int kilobytes, int timesInLine, Duration longestWait) {
    return new AppTurns(
        kilobytes,
        timesInLine * kilobytes,
        longestWait,
        ProblemCode.OVERLOADED,
        "Too many large requests are worked at just now. Send it again, or fewer at once.");
  }

  /// Does the work of a batch in its turn.
  ///
  /// @param bytes of its body
  /// @throws ProblemException 503 where too much else waits, or its turn does not come
  <T> T batch(AppId app, int bytes, Supplier<T> work) {
    return bodies.inTurn(app, 1 + bytes / KILOBYTE, work::get);
  }

  /// Does the work of a message that came alone in its turn; at once if its body is no larger than those of other requests.
  ///
  /// @param bytes of its body
  /// @throws ProblemException 503 where too much else waits, or its turn does not come
  <T> T alone(AppId app, int bytes, Supplier<T> work) {
    return bytes <= Bodies.MOST_BYTES ? work.get() : batch(app, bytes, work);
  }

  /// Does the work of a message, alone or of a batch, in its turn; at once if it names few devices.
  ///
  /// @throws ProblemException 503 where too much else waits, or its turn does not come
  <T> T message(AppId app, Audience audience, Supplier<T> work) {
    int named = named(audience);
    return named <= AudienceResolver.FEW_DEVICES
        ? work.get()
        : devices.inTurn(app, named * KILOBYTES_OF_DEVICE, work::get);
  }

  private static int named(Audience audience) {
    return switch (audience) {
      case Audience.Devices(List<DeviceId> devices) -> devices.size();
      case Audience.Users(List<String> users) -> AudienceResolver.mostDevicesOf(users.size());
      // Their devices are found later, elsewhere.
      case Audience.Topic _,
          Audience.Tag _,
          Audience.All _,
          Audience.And _,
          Audience.Or _,
          Audience.Not _,
          Audience.SpreadByVendor _ ->
          1;
    };
  }
}
