package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.HmsToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.gateway.node.FakeNode;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.fcm.FcmAccount;
import io.pushplanet.simulators.ledger.LedgerEntry;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A message that a device may have got over MQTT, without an acknowledgement in time, and then
/// gets by its vendor: both copies have one name, so that the second replaces the first.
class BothWaysIT {
  private static final Clock CLOCK = Clock.systemUTC();
  private static final String APP = "both-ways";
  private static final String APNS_TOKEN = "b0".repeat(32);
  private static final String NODE = "both-ways-" + System.nanoTime();

  private @TempDir Path state;
  private ProviderPlatform platform;
  private ProviderWorker worker;
  private FakeNode node;

  @BeforeEach
  void start() throws Exception {
    platform = ProviderPlatform.start(state);
    platform.uploadKey(
        APP,
        ApnsKey.issue("BOTHWAYS01", "BOTHKEY001", List.of(ProviderPlatform.BUNDLE)),
        "production");
    platform.uploadAccount(
        APP, FcmAccount.issue("both-ways", platform.simulators.fcm().tokenUri()));
    platform.uploadClient(APP, platform.simulators.hmsDirectory().issue("4711", true));
    worker =
        new ProviderWorker(
            platform, CLOCK, Channel.APNS, Channel.FCM, Channel.HMS, Channel.WEBPUSH);
    node = new FakeNode(NODE);
    worker.servers.sessions().heartbeat(node.lease(CLOCK.instant().plusSeconds(300)));
    node.answer("d1", Result.TIMEOUT);
    worker.servers.connect(APP, "d1", node.lease(CLOCK.instant()).node());
  }

  @AfterEach
  void stop() {
    node.close();
    worker.close();
  }

  /// Over MQTT and in `data` the message has its id; its `collapse_key`, or else this id, is its
  /// name at the vendor.
  @ParameterizedTest
  @CsvSource({"APNS,", "APNS, order-77", "FCM,", "FCM, order-77", "HMS,", "HMS, order-77"})
  void a_copy_by_the_vendor_has_the_name_of_the_copy_over_mqtt(
      Channel channel, @Nullable String collapseKey) throws Exception {
    Push push =
        aPush(CLOCK)
            .from(APP)
            .delivered(
                new DeliveryOptions(
                    Route.AUTO,
                    Duration.ofHours(1),
                    Urgency.HIGH,
                    collapseKey,
                    Duration.ofSeconds(5)))
            .build()
            .to(List.of(withMqttAnd("d1", channel)));

    worker.servers.registered(push);
    worker.deliver(Channel.MQTT, push);
    List<Push> fallback = worker.servers.drain(Topology.lane(channel, Priority.HIGH), Push.class);
    assertThat(fallback).hasSize(1);
    worker.deliver(channel, fallback.getFirst());

    JsonNode overMqtt = JsonMapper.shared().readTree(node.payload(push.id()));
    String name = overMqtt.path("collapse_key").asString(overMqtt.path("id").asString());
    assertThat(name).isEqualTo(collapseKey == null ? push.id().value() : collapseKey);
    LedgerEntry byVendor = platform.simulators.ledger().entries(token(channel)).getLast();
    assertThat(name(channel, byVendor)).isEqualTo(name);
    assertThat(byVendor.payload().toString()).contains(push.id().value());
  }

  /// kontalk/tigase-extension#36: a push for each message wakes a sleeping device again and again.
  /// Here each push is a message, and those that replace each other have one name.
  @Test
  void kontalk_36_messages_with_one_key_for_a_sleeping_device_are_one_notification()
      throws Exception {
    for (int i = 0; i < 3; i++) {
      Push push =
          aPush(CLOCK)
              .from(APP)
              .delivered(
                  new DeliveryOptions(
                      Route.AUTO,
                      Duration.ofHours(1),
                      Urgency.HIGH,
                      "score",
                      Duration.ofSeconds(5)))
              .build()
              .to(List.of(withMqttAnd("asleep", Channel.APNS)));
      worker.deliver(Channel.MQTT, worker.servers.registered(push));
    }
    List<Push> fallback =
        worker.servers.drain(Topology.lane(Channel.APNS, Priority.HIGH), Push.class);
    fallback.forEach(push -> worker.deliver(Channel.APNS, push));

    assertThat(platform.simulators.ledger().entries(APNS_TOKEN))
        .hasSize(3)
        .allSatisfy(entry -> assertThat(name(Channel.APNS, entry)).isEqualTo("score"));
  }

  private static String name(Channel channel, LedgerEntry entry) {
    return switch (channel) {
      case APNS -> String.valueOf(entry.headers().get("apns-collapse-id"));
      case FCM, HMS -> entry.payload().at("/android/notification/tag").asString();
      case WEBPUSH, MQTT -> throw new IllegalArgumentException(channel.word());
    };
  }

  private static String token(Channel channel) {
    return channel == Channel.APNS ? APNS_TOKEN : "both-ways-token";
  }

  private static Recipient withMqttAnd(String device, Channel channel) {
    String token = token(channel);
    return new Recipient(
        new DeviceId(device),
        true,
        channel == Channel.APNS ? new ApnsToken(token, "production", CLOCK.instant()) : null,
        channel == Channel.FCM ? new FcmToken(token, "token", CLOCK.instant()) : null,
        null,
        channel == Channel.HMS ? new HmsToken(token, CLOCK.instant()) : null,
        null);
  }
}
