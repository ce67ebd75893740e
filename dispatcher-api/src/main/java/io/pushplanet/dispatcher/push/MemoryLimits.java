package io.pushplanet.dispatcher.push;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.dispatcher.audience.AudienceResolver;
import io.pushplanet.dispatcher.input.Bodies;
import io.pushplanet.dispatcher.limit.AppBulkheads;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/// Limits how many large requests are worked on at once, by the memory they take. Batches, large
/// messages and messages to many named devices take much memory for a short time: a body takes some
/// twenty times its length as a tree, and each device its tokens, both read and published. Bodies
/// have a part of the heap, and so have devices; no app gets more than half of either. So large
/// requests never fill the heap, delay small ones with megabytes of routes, or keep other apps out.
/// Thread-safe.
@Component
class MemoryLimits {
  private static final int KILOBYTE = 1024;

  /// One 48th of the heap is for the bodies of requests in work, and as much for the tokens of
  /// their devices.
  private static final int PART = 48;

  /// A waiting body holds only its bytes.
  private static final int BODIES_WAITING = 2;

  /// A waiting message holds only the names of its devices, and no tokens yet.
  private static final int DEVICES_WAITING = 16;

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

  /// The longest token that can be registered.
  private static final int KILOBYTES_OF_DEVICE = 4;

  private final AppBulkheads bodies;
  private final AppBulkheads devices;

  @Autowired
  MemoryLimits() {
    this(Runtime.getRuntime().maxMemory(), LONGEST_WAIT);
  }

  MemoryLimits(long heap, Duration longestWait) {
    int kilobytes = Math.clamp(heap / PART / KILOBYTE, 2 * KILOBYTE, Integer.MAX_VALUE / 32);
    this.bodies = bulkheads(kilobytes, BODIES_WAITING, longestWait);
    this.devices = bulkheads(kilobytes, DEVICES_WAITING, longestWait);
  }

  private static AppBulkheads bulkheads(int kilobytes, int timesWaiting, Duration longestWait) {
    return new AppBulkheads(
        kilobytes,
        timesWaiting * kilobytes,
        longestWait,
        ProblemCode.OVERLOADED,
        "Too many large requests are worked at just now. Send it again, or fewer at once.");
  }

  /// Works on a batch as soon as there is memory for its body.
  ///
  /// @param bytes the length of the body
  /// @throws ProblemException 503 when too much waits already, or there is no memory in time
  <T> T forBatch(AppId app, int bytes, Supplier<T> work) {
    return bodies.call(app, 1 + bytes / KILOBYTE, work::get);
  }

  /// Works on a single message as soon as there is memory for its body; at once when the body is no
  /// larger than those of other operations.
  ///
  /// @param bytes the length of the body
  /// @throws ProblemException 503 when too much waits already, or there is no memory in time
  <T> T forBody(AppId app, int bytes, Supplier<T> work) {
    return bytes <= Bodies.MAX_BYTES ? work.get() : forBatch(app, bytes, work);
  }

  /// Works on a message, a single one or one of a batch, as soon as there is memory for its
  /// devices; at once when it names few.
  ///
  /// @throws ProblemException 503 when too much waits already, or there is no memory in time
  <T> T forDevices(AppId app, Audience audience, Supplier<T> work) {
    int named = named(audience);
    return named <= AudienceResolver.FEW_DEVICES
        ? work.get()
        : devices.call(app, named * KILOBYTES_OF_DEVICE, work::get);
  }

  private static int named(Audience audience) {
    return switch (audience) {
      case Audience.Devices(List<DeviceId> devices) -> devices.size();
      case Audience.Users(List<String> users) -> AudienceResolver.mostDevicesOf(users.size());
      // The worker finds the devices of these later.
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
