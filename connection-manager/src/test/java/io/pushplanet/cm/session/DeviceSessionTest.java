package io.pushplanet.cm.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeviceSessionTest {
  private final MutableClock clock = MutableClock.started();
  private final SessionMetrics metrics = new SessionMetrics(new SimpleMeterRegistry());
  private final List<Settlement> settled = new ArrayList<>();
  // Takes one message at a time.
  private final DeviceSession session = session(new QuietClient(), 1);

  @Test
  void what_was_written_at_qos_0_is_settled_by_the_socket_whatever_the_subscription_is_by_then() {
    session.subscribe(Subscription.of(QoS.AT_MOST_ONCE, 0));
    offer();
    assertThat(settled).isEmpty();

    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    session.flushed();

    assertThat(settled).singleElement().isInstanceOf(Settlement.Delivered.class);
    assertThat(metrics.inFlight).hasValue(0);
  }

  @Test
  void at_qos_0_a_device_responds_again_once_its_socket_has_taken_what_it_held_back() {
    var client = new QuietClient();
    var slow = session(client, 1);
    slow.subscribe(Subscription.of(QoS.AT_MOST_ONCE, 0));
    slow.offer(message());
    slow.swept(Duration.ofSeconds(61).toNanos());
    assertThat(metrics.unresponsiveNow).hasValue(1);

    slow.flushed();
    slow.offer(message());

    assertThat(metrics.unresponsiveNow).hasValue(0);
    assertThat(client.sent).hasSize(2);
  }

  @Test
  void what_was_written_at_qos_1_waits_for_its_acknowledgement() {
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    offer();

    session.flushed();

    assertThat(settled).isEmpty();
    assertThat(metrics.inFlight).hasValue(1);
  }

  @Test
  void what_is_sent_again_ends_with_a_socket_that_takes_no_more() {
    var full = new FullSocket();
    var again = session(full, 16);
    full.session = again;

    again.resume(
        Subscription.of(QoS.AT_LEAST_ONCE, 0),
        List.of(new Unacknowledged(1, message()), new Unacknowledged(2, message())));

    assertThat(full.sent).as("before it ended").hasSize(1);
    assertThat(metrics.inFlight).hasValue(0);
  }

  /// A slow reader whose connection is closed within the very call that is one too many.
  private static final class FullSocket extends QuietClient {
    private @Nullable DeviceSession session;

    @Override
    public void sendEncoded(byte[] packet) {
      super.sendEncoded(packet);
      Objects.requireNonNull(session).end();
    }
  }

  private DeviceSession session(QuietClient client, int window) {
    return new DeviceSession(
        new DeviceKey(new AppId("shop"), new DeviceId("d1")),
        1,
        new SessionTerms(window, 1 << 20, 3_600),
        new DeviceSession.Shared(
            new SessionLimits(16, 128, Duration.ofSeconds(2), Duration.ZERO, Duration.ofMinutes(1)),
            metrics,
            new LateAcknowledgements(1),
            clock),
        client);
  }

  private void offer() {
    session.offer(message());
  }

  private OutboundMessage message() {
    return new OutboundMessage(
        new Letter(
            new MessageId("0190b8a0-0000-7000-8000-000000000001"),
            Binary.of("hello"),
            clock.millis() + 60_000),
        OutboundMessage.NO_DEADLINE,
        new OutboundMessage.Origin() {
          @Override
          public void written() {}

          @Override
          public void settled(OutboundMessage message, Settlement settlement) {
            settled.add(settlement);
          }
        });
  }
}
