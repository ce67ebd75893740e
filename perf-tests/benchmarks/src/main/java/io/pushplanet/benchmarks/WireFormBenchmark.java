package io.pushplanet.benchmarks;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.wire.WireForm;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// The cost of a push on the lane, per push in a batch of 64: encoding (accepting thread), joining
/// (lane), decoding (worker). And the cost of its two events, acceptance and end: encoding
/// (dispatcher, worker), decoding (statistics).
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(
    value = 1,
    jvmArgsAppend = {"-XX:+UseCompactObjectHeaders", "-Xmx512m"})
public class WireFormBenchmark {
  private static final int BATCH = 64;

  private final List<Push> pushes;
  private final List<byte[]> encoded;
  private final byte[] batch;
  private final List<DeliveryEvent> events;
  private final byte[] news;

  public WireFormBenchmark() {
    Instant now = Instant.parse("2026-11-21T05:00:00Z");
    MessageIds ids = new MessageIds(Clock.fixed(now, ZoneOffset.UTC), new Random(1));
    this.pushes = IntStream.range(0, BATCH).mapToObj(i -> push(ids, now, i)).toList();
    this.encoded = pushes.stream().map(WireForm::write).toList();
    this.batch = WireForm.join(encoded);
    this.events =
        pushes.stream().flatMap(push -> Stream.of(accepted(push), delivered(push))).toList();
    this.news = WireForm.join(events.stream().map(WireForm::write).toList());
  }

  private static DeliveryEvent accepted(Push push) {
    return new DeliveryEvent.Accepted(
        push.app(),
        push.acceptedAt(),
        push.id(),
        push.expiresAt(),
        new Json("{\"devices\":[\"device-1\"]}"),
        WireForm.json(push.content()),
        WireForm.json(push.delivery()),
        List.of(push.recipients().getFirst().device()),
        true,
        null);
  }

  private static DeliveryEvent delivered(Push push) {
    return new DeliveryEvent.Ended(
        push.app(),
        push.acceptedAt(),
        push.id(),
        push.recipients().getFirst().device(),
        DeliveryState.DELIVERED,
        Attempt.delivered(
            Channel.FCM, push.acceptedAt(), 200, "projects/shop/messages/0:1700000000000001%1"));
  }

  private static Push push(MessageIds ids, Instant now, int number) {
    return Push.accepted(
            ids.next(),
            new AppId("shop"),
            new Content("Shipped", "Order 77 is on its way", Map.of("order", "77")),
            DeliveryOptions.DEFAULT,
            Overrides.NONE,
            now,
            null)
        .to(
            List.of(
                new Recipient(
                    new DeviceId("device-" + number),
                    true,
                    null,
                    new FcmToken("x".repeat(140) + number, "token", now),
                    null,
                    null,
                    null)));
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long encode() {
    long bytes = 0;
    for (Push push : pushes) {
      bytes += WireForm.write(push).length;
    }
    return bytes;
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public byte[] join() {
    return WireForm.join(encoded);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public List<Push> decode() {
    return WireForm.readBatch(batch, Push.class);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long encodeEvents() {
    long bytes = 0;
    for (DeliveryEvent event : events) {
      bytes += WireForm.write(event).length;
    }
    return bytes;
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public List<DeliveryEvent> decodeEvents() {
    return WireForm.readBatch(news, DeliveryEvent.class);
  }
}
