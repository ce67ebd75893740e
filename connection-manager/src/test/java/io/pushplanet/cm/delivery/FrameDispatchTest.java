package io.pushplanet.cm.delivery;

import static io.pushplanet.cm.session.SessionBuilder.aSession;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.directory.OwnershipDoubts;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.SessionBuilder;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// A fault in one target of a frame must not affect the others.
class FrameDispatchTest {
  private static final AppId APP = new AppId("shop");

  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final TargetPermits permits = new TargetPermits(100, meters);
  private final HandLoop loop = new HandLoop();
  private final SessionTable table = new SessionTable();
  private final Map<Integer, Result> answers = new HashMap<>();
  private final Map<DeviceKey, Long> absent = new HashMap<>();
  private final OwnershipDoubts doubts =
      new NoOwnershipDoubts() {
        @Override
        public void absent(DeviceKey device, long epoch) {
          absent.put(device, epoch);
        }
      };
  private final FrameDispatch dispatch =
      new FrameDispatch(
          new FrameTargets.Shared(
              table,
              permits,
              new DeliverySettings(
                  "gateway", new Secret("x"), 100, 8, 3_000, Duration.ofSeconds(30)),
              new DeliveryMetrics(meters),
              clock,
              () -> loop.nowNanos,
              doubts));
  private final DeviceSession.Shared shared =
      SessionBuilder.shared(new SessionMetrics(meters), clock);

  @Test
  void an_error_of_one_device_is_answered_and_its_neighbours_get_the_message() {
    var first = device("d1", new QuietClient(loop));
    device("d2", new BrokenClient(loop));
    var last = device("d3", new QuietClient(loop));

    dispatch("d1", "d2", "d3");
    acknowledge("d1", first);
    acknowledge("d3", last);

    assertThat(first.sent).hasSize(1);
    assertThat(last.sent).hasSize(1);
    assertThat(answers)
        .isEqualTo(Map.of(0, Result.DELIVERED, 1, Result.TIMEOUT, 2, Result.DELIVERED));
    assertThat(permits.taken()).isZero();
  }

  @Test
  void a_target_answered_for_an_error_is_not_answered_again_when_its_device_leaves() {
    device("d1", new BrokenClient(loop));
    dispatch("d1");

    session("d1").end();

    assertThat(answers).isEqualTo(Map.of(0, Result.TIMEOUT));
    assertThat(permits.taken()).isZero();
  }

  @Test
  void a_target_without_a_device_is_answered_and_its_neighbours_get_the_message() {
    var first = device("d1", new QuietClient(loop));
    var last = device("d3", new QuietClient(loop));

    var frame = WireForm.write(frame("d1", "gone", "d3"));
    var withoutDevice =
        new String(frame, StandardCharsets.UTF_8).replace(",\"device\":\"gone\"", "");
    dispatch(WireForm.read(withoutDevice.getBytes(StandardCharsets.UTF_8), NodeFrame.class));
    acknowledge("d1", first);
    acknowledge("d3", last);

    assertThat(answers)
        .isEqualTo(Map.of(0, Result.DELIVERED, 1, Result.NOT_HERE, 2, Result.DELIVERED));
    assertThat(permits.taken()).isZero();
  }

  @Test
  void an_absent_device_is_doubted_with_the_gateways_epoch() {
    device("d1", new QuietClient(loop));

    dispatch("d1", "gone");

    assertThat(answers).isEqualTo(Map.of(1, Result.NOT_HERE));
    assertThat(absent).isEqualTo(Map.of(key("gone"), 1L));
  }

  /// A client whose socket fails in the middle of a message.
  private static final class BrokenClient extends QuietClient {
    BrokenClient(HandLoop loop) {
      super(loop);
    }

    @Override
    public void sendEncoded(byte[] packet) {
      throw new NoClassDefFoundError("for the test");
    }
  }

  private QuietClient device(String id, QuietClient client) {
    var session = aSession(key(id)).at(client, shared);
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    table.put(session);
    return client;
  }

  private void dispatch(String... devices) {
    dispatch(frame(devices));
  }

  private NodeFrame frame(String... devices) {
    var message =
        new NodeFrame.Message(
            PushBuilder.aPush(clock).build().id(), clock.instant().plusSeconds(3_600), "{}");
    var targets =
        Arrays.stream(devices)
            .map(id -> new NodeFrame.Target(APP, new DeviceId(id), 0, 1L))
            .toList();
    return new NodeFrame("1", clock.instant().plusSeconds(10), List.of(message), targets);
  }

  private void dispatch(NodeFrame frame) {
    dispatch.dispatch(
        frame,
        (_, outcome) ->
            assertThat(answers.put(outcome.target(), outcome.result()))
                .as("answered twice: %s", outcome)
                .isNull());
    loop.turn();
  }

  private void acknowledge(String id, QuietClient client) {
    session(id).acknowledged(client.lastPacketId(), ReasonCode.SUCCESS);
  }

  private DeviceSession session(String id) {
    return Objects.requireNonNull(table.find(key(id)));
  }

  private static DeviceKey key(String id) {
    return new DeviceKey(APP, new DeviceId(id));
  }
}
