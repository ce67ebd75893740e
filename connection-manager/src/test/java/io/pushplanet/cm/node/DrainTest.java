package io.pushplanet.cm.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.ServerReferences;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DrainTest {
  private static final String OTHER = "node-2.push.example.org:1883";
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final SessionTable table = new SessionTable();
  private final ServerReferences serverReferences =
      new ServerReferences(OTHER, new SplittableRandom(1));
  private final Drain drain =
      new Drain(
          table,
          new Admission(
              10,
              serverReferences,
              new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(2)),
              meters),
          serverReferences,
          new NodeSettings.Drain(500, Duration.ZERO, Duration.ofSeconds(3), Duration.ofSeconds(10)),
          clock,
          System::nanoTime,
          () -> {});

  @AfterEach
  void cancel() {
    drain.cancel();
  }

  @Test
  void a_device_whose_claim_outlasts_the_drain_is_sent_elsewhere_too() {
    drain.begin(500);
    Eventually.within(
        PATIENCE, () -> assertThat(drain.progress().state()).isEqualTo(Drain.State.EMPTY));

    var late = comes("d1", 1 << 20);

    Eventually.within(
        PATIENCE, () -> assertThat(late.told).contains(ReasonCode.USE_ANOTHER_SERVER));
    Eventually.within(
        PATIENCE, () -> assertThat(drain.progress().state()).isEqualTo(Drain.State.EMPTY));
  }

  @Test
  void mqtt_3_1_2_24_no_server_reference_goes_to_a_client_that_takes_only_short_packets() {
    var brief = comes("d1", 32);
    var other = comes("d2", 1 << 20);

    drain.begin(500);

    Eventually.within(PATIENCE, () -> assertThat(other.references).containsExactly(OTHER));
    Eventually.within(PATIENCE, () -> assertThat(brief.references).containsExactly(""));
  }

  private Client comes(String device, int largestPacket) {
    var client = new Client();
    client.session =
        new DeviceSession(
            new DeviceKey(new AppId("shop"), new DeviceId(device)),
            1,
            Long.MAX_VALUE,
            new SessionTerms(16, largestPacket, 0),
            new DeviceSession.Shared(
                new SessionLimits(
                    16, 128, Duration.ofSeconds(2), Duration.ZERO, Duration.ofMinutes(1)),
                new SessionMetrics(meters),
                new LateAcknowledgements(1, _ -> {}),
                clock),
            client);
    table.put(client.session);
    return client;
  }

  /// Runs each task at once.
  private final class Client extends QuietClient {
    private final List<ReasonCode> told = new CopyOnWriteArrayList<>();
    private final List<String> references = new CopyOnWriteArrayList<>();
    private DeviceSession session;

    @Override
    public void retire() {
      table.remove(session);
    }

    @Override
    public byte[] encode(MqttPacket packet) {
      throw new AssertionError("nothing is sent");
    }

    @Override
    public void disconnect(ReasonCode reason, MqttProperties properties) {
      told.add(reason);
      references.add(properties.text(PropertyId.SERVER_REFERENCE).orElse(""));
    }
  }
}
