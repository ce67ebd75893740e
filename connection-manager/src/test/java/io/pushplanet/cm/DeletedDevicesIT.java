package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.ConnAck;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.Denials;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Installed;
import io.pushplanet.common.testing.Signals;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Service;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// A device was deleted, as the dispatcher records it in Redis: clients with its password are
/// disconnected and stay out.
class DeletedDevicesIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long ENDS =
      DeviceCredential.end(Clock.systemUTC().instant(), Duration.ofHours(1));
  private static TestNode node;
  private static Denials denials;

  private final DeviceKey device = TestNode.newDevice();

  @BeforeAll
  static void start() {
    node = TestNode.start();
    denials = new Denials(node.bean(RedisLink.class), Clock.systemUTC());
  }

  @AfterAll
  static void stop() {
    node.close();
  }

  @Test
  void its_password_is_refused_on_both_versions_and_a_new_one_of_the_same_second_is_not()
      throws Exception {
    double before = refused();

    denials.deny(device, ENDS);

    for (var version : MqttVersion.values()) {
      try (var old = connecting(version, ENDS)) {
        var answer = old.expect(ConnAck.class);
        assertThat(answer.code()).isEqualTo(version == MqttVersion.V5 ? 0x87 : 5);
        assertThat(old.next()).isEmpty();
      }
      try (var anew = connecting(version, ENDS + 1)) {
        assertThat(anew.expect(ConnAck.class).code()).isZero();
      }
    }
    assertThat(refused() - before).isEqualTo(MqttVersion.values().length);
  }

  @Test
  void a_stock_client_is_told_that_it_is_not_authorised() throws Exception {
    denials.deny(device, ENDS);

    for (var version : List.of("mqttv311", "mqttv5")) {
      assertThat(mosquitto(version, ENDS)).containsIgnoringCase("not authori");
      assertThat(mosquitto(version, ENDS + 1)).isEmpty();
    }
  }

  /// The reason that mosquitto prints for a refusal; empty if it connects.
  private String mosquitto(String version, long ends) throws Exception {
    var said = Files.createTempFile("mosquitto", ".said");
    var publisher =
        new ProcessBuilder(
                Installed.program("mosquitto_pub", "MOSQUITTO_PUB", "mosquitto-clients").toString(),
                "-h",
                "127.0.0.1",
                "-p",
                Integer.toString(node.port("mqtt")),
                "-V",
                version,
                "-i",
                device.device().value(),
                "-u",
                device.app().value(),
                "-P",
                password(ends),
                "-t",
                "push/uplink",
                "-q",
                "1",
                "-m",
                "up")
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(publisher.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return Files.readString(said);
  }

  @Test
  void its_connection_is_ended_and_what_it_says_since_is_not_heard() throws Exception {
    for (var version : MqttVersion.values()) {
      var deleted = TestNode.newDevice();
      try (var open =
          RawClient.subscribed(
              node.port("mqtt"), connect(SharedNode.persistent(deleted, version), deleted, ENDS))) {
        denials.deny(deleted, ENDS);

        assertThat(SharedNode.end(open))
            .isEqualTo(ConnectScene.told(version, ReasonCode.NOT_AUTHORIZED));
      }
      assertThat(node.bean(SessionDirectory.class).owner(deleted)).isEmpty();
      try (var anew =
          new RawClient(node.port("mqtt"), version)
              .send(connect(SharedNode.persistent(deleted, version), deleted, ENDS + 1))) {
        assertThat(anew.expect(ConnAck.class).sessionPresent())
            .as("nothing is left of its session")
            .isFalse();
      }
    }
  }

  @Test
  void a_session_with_a_later_password_stays_when_the_deletion_is_told_late() throws Exception {
    try (var anew =
        RawClient.subscribed(
            node.port("mqtt"),
            connect(RawClient.connect(MqttVersion.V5, device), device, ENDS + 1))) {
      var directory = node.bean(SessionDirectory.class);
      var owner = directory.owner(device);
      assertThat(owner).isPresent();

      denials.deny(device, ENDS);

      Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isEqualTo(owner));
      SharedNode.silent(anew);
    }
  }

  @Test
  void a_deleted_device_that_connected_while_redis_was_away_is_out_once_redis_answers()
      throws Exception {
    denials.deny(device, ENDS);
    long redis = LocalServices.forTests().process(Service.REDIS).pid();
    RawClient old;
    Signals.stop(redis);
    try {
      old = connecting(MqttVersion.V5, ENDS);
      assertThat(old.expect(ConnAck.class).code()).as("nobody can be asked").isZero();
      old.publish("push/uplink", "up", QoS.AT_LEAST_ONCE, false);
      old.expect(MqttPacket.PubAck.class);
    } finally {
      Signals.resume(redis);
    }

    assertThat(SharedNode.end(old)).isEqualTo(ReasonCode.NOT_AUTHORIZED);
    old.close();
    Eventually.within(
        PATIENCE, () -> assertThat(node.bean(Registrar.class).isReachable()).isTrue());
    try (var again = connecting(MqttVersion.V5, ENDS)) {
      assertThat(again.expect(ConnAck.class).code()).isEqualTo(0x87);
    }
  }

  /// A carrier's NAT is the address of other apps' devices as well.
  @Test
  void an_address_that_comes_by_such_passwords_over_and_over_is_not_closed() throws Exception {
    try (var strict =
        TestNode.start(
            "--cm.admission.address-failures-per-second=1",
            "--cm.admission.unlimited-sources=192.0.2.1")) {
      denials.deny(device, ENDS);

      for (int count = 0; count < 30; count++) {
        try (var old =
            new RawClient(strict.port("mqtt"), MqttVersion.V5)
                .send(connect(RawClient.connect(MqttVersion.V5, device), device, ENDS))) {
          assertThat(old.expect(ConnAck.class).code()).isEqualTo(0x87);
        }
      }
    }
  }

  private RawClient connecting(MqttVersion version, long ends) throws Exception {
    return new RawClient(node.port("mqtt"), version)
        .send(connect(RawClient.connect(version, device), device, ends));
  }

  private static MqttPacket.Connect connect(MqttPacket.Connect usual, DeviceKey device, long ends) {
    return new MqttPacket.Connect(
        usual.version(),
        usual.cleanStart(),
        usual.keepAliveSeconds(),
        usual.clientId(),
        usual.userName(),
        Binary.of(TestNode.credential(device, ends)),
        null,
        usual.properties());
  }

  private String password(long ends) {
    return TestNode.credential(device, ends);
  }

  private static double refused() {
    return node.bean(MeterRegistry.class)
        .get("cm.admission.refused")
        .tag("reason", "device_deleted")
        .counter()
        .count();
  }
}
