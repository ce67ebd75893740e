package io.pushplanet.common.wire;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.testing.MutableClock;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.ObjectNode;

class WireFormTest {
  private static final MutableClock CLOCK = MutableClock.started();
  private static final AppId APP = new AppId("shop");
  private static final Push PUSH =
      aPush(CLOCK).toMqtt("d1").toApns("d2", "ab12").toFcm("d3", "token").build();
  private static final Attempt ATTEMPT =
      Attempt.rejected(Channel.APNS, CLOCK.instant(), "BadDeviceToken", "token forgotten")
          .answered(400)
          .explained("message.token: unknown");

  @Test
  void a_token_for_alerts_is_written_as_before_push_types() {
    ApnsToken alerts = new ApnsToken("ab", "production", Instant.EPOCH, ApnsPushType.ALERT);
    ApnsToken calls = new ApnsToken("cd", "production", Instant.EPOCH, ApnsPushType.VOIP);

    assertThat(WireForm.json(alerts).text())
        .isEqualTo(
            "{\"token\":\"ab\",\"environment\":\"production\",\"registered_at\":\"1970-01-01T00:00:00Z\"}");
    assertThat(WireForm.read(WireForm.write(alerts), ApnsToken.class).type())
        .isEqualTo(ApnsPushType.ALERT);
    assertThat(WireForm.json(calls).text()).endsWith(",\"push_type\":\"voip\"}");
    assertThat(WireForm.read(WireForm.write(calls), ApnsToken.class)).isEqualTo(calls);
  }

  @Test
  void a_push_comes_back_as_it_was() {
    byte[] batch =
        WireForm.join(
            List.of(
                WireForm.write(PUSH), WireForm.write(PUSH.retried().fallenBackFrom(Channel.MQTT))));

    List<Push> read = WireForm.readBatch(batch, Push.class);

    assertThat(read).containsExactly(PUSH, PUSH.retried().fallenBackFrom(Channel.MQTT));
  }

  @Test
  void only_a_push_that_was_put_off_says_that_it_waited() {
    byte[] batch = WireForm.join(List.of(WireForm.write(PUSH.putOff()), WireForm.write(PUSH)));

    assertThat(WireForm.readBatch(batch, Push.class)).containsExactly(PUSH.putOff(), PUSH);
    assertThat(PUSH.putOff().attempt()).isZero();
    assertThat(PUSH.putOff().cameBack()).isTrue();
    assertThat(PUSH.cameBack()).isFalse();
    assertThat(new String(WireForm.write(PUSH), StandardCharsets.UTF_8)).doesNotContain("waited");
  }

  @Test
  void a_push_with_content_already_written_has_the_same_form() {
    assertThat(WireForm.write(PUSH, WireForm.json(PUSH.content()))).isEqualTo(WireForm.write(PUSH));
    assertThat(WireForm.json(new Content("a \"b\"", null, Map.of("안녕", "😀\n"))))
        .isEqualTo(new Json("{\"title\":\"a \\\"b\\\"\",\"data\":{\"안녕\":\"😀\\n\"}}"));
  }

  @Test
  void an_acceptances_content_is_passed_on_as_written() {
    String content = "{ \"body\" : \"\\u00e9é 안녕\", \"n\":[1e400,{\"deep\":{\"}\":\"]\"}}] }";
    String fields =
        """
        "안녕":"skipped","app":"shop","at":"2026-11-21T10:00:00Z","message":"%s","expires_at":"2026-11-21T11:00:00Z",
        "audience":{"kind":"all"},"content": %s ,"delivery":{},"recipients":["d1"],"expanded":true\
        """
            .formatted(PUSH.id(), content);

    DeliveryEvent.Accepted ours = accepted("[{\"event\":\"accepted\"," + fields + "}]");
    DeliveryEvent.Accepted turnedRound = accepted("[{" + fields + ",\"event\":\"accepted\"}]");

    assertThat(ours.content()).isEqualTo(new Json(content));
    assertThat(ours.audience()).isEqualTo(new Json("{\"kind\":\"all\"}"));
    assertThat(ours.estimate()).isNull();
    assertThat(turnedRound.audience()).isEqualTo(new Json("{\"kind\":\"all\"}"));
    assertThat(WireForm.mapper().readTree(turnedRound.content().text()).at("/body").stringValue())
        .isEqualTo("éé 안녕");
  }

  private static DeliveryEvent.Accepted accepted(String batch) {
    byte[] bytes = batch.getBytes(StandardCharsets.UTF_8);
    return (DeliveryEvent.Accepted) WireForm.readBatch(bytes, DeliveryEvent.class).getFirst();
  }

  @Test
  void an_empty_batch_is_a_batch() {
    assertThat(WireForm.readBatch(WireForm.join(List.of()), Push.class)).isEmpty();
  }

  static Stream<DeliveryEvent> events() {
    DeviceId device = new DeviceId("d1");
    Instant at = CLOCK.instant();
    return Stream.of(
        new DeliveryEvent.Accepted(
            APP,
            at,
            PUSH.id(),
            PUSH.expiresAt(),
            WireForm.json(new Audience.Devices(List.of(device))),
            WireForm.json(PUSH.content()),
            WireForm.json(PUSH.delivery()),
            List.of(device),
            true,
            null),
        new DeliveryEvent.Accepted(
            APP,
            at,
            PUSH.id(),
            PUSH.expiresAt(),
            WireForm.json(new Audience.All()),
            WireForm.json(PUSH.content()),
            WireForm.json(PUSH.delivery()),
            List.of(),
            false,
            70_000),
        new DeliveryEvent.Expanded(APP, at, PUSH.id(), List.of(device), true),
        new DeliveryEvent.Attempted(APP, at, PUSH.id(), device, ATTEMPT),
        new DeliveryEvent.Ended(APP, at, PUSH.id(), device, DeliveryState.FAILED, ATTEMPT),
        new DeliveryEvent.Receipt(APP, at, PUSH.id(), device, DeliveryEvent.Receipt.Kind.OPENED),
        new DeliveryEvent.Receipt(
            APP, at, PUSH.id(), device, DeliveryEvent.Receipt.Kind.OPENED, at.plusSeconds(1)));
  }

  @ParameterizedTest
  @MethodSource("events")
  void an_event_comes_back_as_it_was(DeliveryEvent event) {
    byte[] batch = WireForm.join(List.of(WireForm.write(event)));

    assertThat(WireForm.readBatch(batch, DeliveryEvent.class)).containsExactly(event);
  }

  @Test
  void an_attempts_time_has_milliseconds() {
    Instant fine = Instant.parse("2026-11-21T10:00:00.123999999Z");
    Attempt attempt = Attempt.rejected(Channel.FCM, fine, "UNAVAILABLE");

    assertThat(new String(WireForm.write(attempt), StandardCharsets.UTF_8))
        .contains("\"at\":\"2026-11-21T10:00:00.123Z\"");
  }

  @Test
  void an_unknown_result_of_an_attempt_stays_as_it_is() {
    String written = "{\"at\":\"2026-11-21T10:00:00.123Z\",\"result\":\"teleported\"}";

    Attempt read = WireForm.read(written.getBytes(StandardCharsets.UTF_8), Attempt.class);

    assertThat(new String(WireForm.write(read), StandardCharsets.UTF_8)).isEqualTo(written);
  }

  @Test
  void an_uplink_keeps_every_byte() {
    byte[] payload = {0, 1, (byte) 0xff};
    DeliveryEvent event =
        new DeliveryEvent.Uplink(APP, CLOCK.instant(), new DeviceId("d1"), "id", payload);

    DeliveryEvent read = WireForm.read(WireForm.write(event), DeliveryEvent.class);

    assertThat(read)
        .isInstanceOfSatisfying(
            DeliveryEvent.Uplink.class, uplink -> assertThat(uplink.payload()).isEqualTo(payload));
  }

  @Test
  void an_uplink_keeps_its_user_properties_in_their_order() {
    var event =
        new DeliveryEvent.Uplink(
            APP,
            CLOCK.instant(),
            new DeviceId("d1"),
            "id",
            new byte[0],
            new Json("[[\"b\",\"1\"],[\"a\",\"é\\n\"],[\"b\",\"\"]]"));

    byte[] batch = WireForm.join(List.of(WireForm.write(event)));

    assertThat(new String(batch, StandardCharsets.UTF_8))
        .contains("\"user_properties\":[[\"b\",\"1\"],[\"a\",\"é\\n\"],[\"b\",\"\"]]");
    assertThat(WireForm.readBatch(batch, DeliveryEvent.class))
        .singleElement()
        .isInstanceOfSatisfying(
            DeliveryEvent.Uplink.class,
            uplink -> assertThat(uplink.userProperties()).isEqualTo(event.userProperties()));
  }

  @Test
  void an_uplink_of_an_older_node_has_no_user_properties() {
    String written =
        "{\"event\":\"uplink\",\"app\":\"shop\",\"at\":\"2026-11-21T10:00:00Z\",\"device\":\"d1\",\"id\":\"id\",\"payload\":\"AAE=\"}";

    DeliveryEvent read =
        WireForm.read(written.getBytes(StandardCharsets.UTF_8), DeliveryEvent.class);

    assertThat(read)
        .isInstanceOfSatisfying(
            DeliveryEvent.Uplink.class, uplink -> assertThat(uplink.userProperties()).isNull());
    assertThat(new String(WireForm.write(read), StandardCharsets.UTF_8)).isEqualTo(written);
  }

  @Test
  void a_field_of_a_newer_version_is_skipped() {
    String text = new String(WireForm.write(PUSH), StandardCharsets.UTF_8);
    byte[] newer =
        ("{\"from_the_future\":{\"a\":[1]}," + text.substring(1)).getBytes(StandardCharsets.UTF_8);

    assertThat(WireForm.read(newer, Push.class)).isEqualTo(PUSH);
  }

  @Test
  void frames_and_outcomes_carry_epochs_and_are_read_without_them() {
    var target = new NodeFrame.Target(APP, new DeviceId("d1"), 0, 7L);
    var outcome = NodeOutcomes.Outcome.delivered(0, 7L, null);
    byte[] older =
        "{\"frame\":\"1\",\"outcomes\":[{\"target\":0,\"result\":\"delivered\"}]}"
            .getBytes(StandardCharsets.UTF_8);

    assertThat(WireForm.read(WireForm.write(target), NodeFrame.Target.class)).isEqualTo(target);
    assertThat(WireForm.read(WireForm.write(outcome), NodeOutcomes.Outcome.class))
        .isEqualTo(outcome);
    assertThat(WireForm.read(older, NodeOutcomes.class).outcomes())
        .containsExactly(new NodeOutcomes.Outcome(0, NodeOutcomes.Result.DELIVERED, null));
  }

  /// Gateways and nodes of different versions work side by side.
  @Test
  void a_frame_calls_its_messages_letters_on_the_wire() {
    NodeFrame.Message message = new NodeFrame.Message(PUSH.id(), CLOCK.instant(), "{}");
    NodeFrame.Target target = new NodeFrame.Target(APP, new DeviceId("d1"), 0, 7L);
    NodeFrame frame = new NodeFrame("1", CLOCK.instant(), List.of(message), List.of(target));
    NodeBroadcast broadcast =
        new NodeBroadcast(
            "1", CLOCK.instant(), message, APP, List.of(new DeviceId("d1")), List.of(7L));

    assertThat(new String(WireForm.write(frame), StandardCharsets.UTF_8))
        .contains("\"letters\":[{", "\"letter\":0")
        .doesNotContain("message");
    assertThat(new String(WireForm.write(broadcast), StandardCharsets.UTF_8))
        .contains("\"letter\":{")
        .doesNotContain("message");
    assertThat(WireForm.read(WireForm.write(frame), NodeFrame.class)).isEqualTo(frame);
    assertThat(WireForm.read(WireForm.write(broadcast), NodeBroadcast.class)).isEqualTo(broadcast);
  }

  @Test
  void a_frame_without_one_of_its_fields_is_malformed() {
    var message = new NodeFrame.Message(PUSH.id(), CLOCK.instant(), "{}");
    var target = new NodeFrame.Target(APP, new DeviceId("d1"), 0, 7L);
    var device = new NodeFrame.Drain.Device(APP, new DeviceId("d1"));

    everyFieldIsNeeded(message, "id", "expires_at", "payload");
    everyFieldIsNeeded(
        new NodeFrame("1", CLOCK.instant(), List.of(message), List.of(target)),
        "frame",
        "answer_by",
        "letters",
        "targets");
    everyFieldIsNeeded(
        new NodeBroadcast(
            "1", CLOCK.instant(), message, APP, List.of(new DeviceId("d1")), List.of(7L)),
        "frame",
        "answer_by",
        "letter",
        "app",
        "devices",
        "epochs");
    everyFieldIsNeeded(device, "app", "device");
    everyFieldIsNeeded(new NodeFrame.Drain(List.of(device)), "devices");
  }

  private static void everyFieldIsNeeded(Object whole, String... fields) {
    for (String field : fields) {
      var json = (ObjectNode) WireForm.mapper().readTree(WireForm.write(whole));
      json.remove(field);

      assertThatThrownBy(() -> WireForm.read(WireForm.write(json), whole.getClass()))
          .as("%s without %s", whole, field)
          .isInstanceOf(MalformedWire.class);
    }
  }

  @Test
  void unreadable_items_are_reported_byte_for_byte_and_the_others_are_read() {
    String push = new String(WireForm.write(PUSH), StandardCharsets.UTF_8);
    for (String rubbish :
        List.of(
            "{\"id\" : 7, \"안녕\":[{}]}",
            "[[1],2]",
            "7",
            "1.5e3",
            "\"a \\\" ,]\"",
            "null",
            "true")) {
      String batch = "[ " + push + " , " + rubbish + ",\n" + push + "]";
      List<DeadItem> dead = new ArrayList<>();

      List<Push> read =
          WireForm.readBatch(batch.getBytes(StandardCharsets.UTF_8), Push.class, dead::add);

      assertThat(read).as(rubbish).containsExactly(PUSH, PUSH);
      assertThat(dead).as(rubbish).hasSize(1);
      assertThat(dead.getFirst().batch())
          .asString(StandardCharsets.UTF_8)
          .isEqualTo("[" + rubbish + "]");
      assertThat(dead.getFirst().reason()).contains("batch of Push");
    }
  }

  @Test
  void a_text_that_is_no_batch_is_malformed_as_a_whole() {
    for (String rubbish : List.of("", "null", "{}", "[{}", "[{},", "[{}] []", "[}", "\u0000[{}]")) {
      assertThatThrownBy(() ->
              WireForm.readBatch(
                  rubbish.getBytes(StandardCharsets.UTF_8), Push.class, item -> fail(rubbish)))
          .as(rubbish)
          .isInstanceOf(MalformedWire.class);
    }
    assertThatThrownBy(() ->
            WireForm.readBatch(
                "[{}]".getBytes(StandardCharsets.UTF_16BE), Push.class, item -> fail("UTF-16")))
        .isInstanceOf(MalformedWire.class);
  }

  @Test
  void rubbish_is_malformed_and_says_what_was_expected() {
    byte[] rubbish = "[{\"id\":\"not an id\"}]".getBytes(StandardCharsets.UTF_8);

    assertThatThrownBy(() -> WireForm.readBatch(rubbish, Push.class))
        .isInstanceOf(MalformedWire.class)
        .hasMessageContaining("batch of Push")
        .hasMessageNotContaining("Source:");
  }
}
