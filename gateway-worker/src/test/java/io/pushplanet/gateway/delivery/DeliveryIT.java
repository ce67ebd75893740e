package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DeviceRoute;
import io.pushplanet.common.session.RouteStore;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.common.wire.Topology;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.intake.DeadItems;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.statistics.StatisticsWriter;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeliveryIT {
  private static final String APP = "delivery-it";

  private final RealServers servers = start();
  private final MutableClock clock = new MutableClock(Instant.now().truncatedTo(ChronoUnit.MILLIS));
  private final ScriptedProvider fcm = new ScriptedProvider(Channel.FCM);
  private final ScriptedProvider apns = new ScriptedProvider(Channel.APNS);
  private final ScriptedProvider hms = new ScriptedProvider(Channel.HMS);
  private final RedisClient redis = RedisClient.create(servers.services().redis().toString());
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Nodes nodes = DeliveryForTests.nodes(servers.sessions(), clock, meters);
  private final Delivery delivery =
      DeliveryForTests.at(
          servers,
          servers.sessions(),
          nodes,
          new RouteStore(redis.connect()),
          clock,
          meters,
          fcm,
          apns,
          hms);

  /// Answers what the test says, per device; accepts otherwise.
  private static final class ScriptedProvider implements Provider {
    final Map<String, DeliveryOutcome> answers = new ConcurrentHashMap<>();
    final Queue<String> sent = new ConcurrentLinkedQueue<>();
    final Queue<List<String>> requests = new ConcurrentLinkedQueue<>();
    final Channel channel;
    volatile int together = 1;
    volatile boolean puttingOff;

    @Override
    public Optional<DeliveryOutcome> putOff(Push push) {
      return puttingOff && !push.cameBack()
          ? Optional.of(new DeliveryOutcome.PutOff(0, "project_quota_rest", Duration.ofMinutes(1)))
          : Optional.empty();
    }

    ScriptedProvider(Channel channel) {
      this.channel = channel;
    }

    @Override
    public Channel channel() {
      return channel;
    }

    @Override
    public DeliveryOutcome send(Push push, Recipient recipient) {
      sent.add(recipient.device().value());
      return answers.getOrDefault(
          recipient.device().value(), new DeliveryOutcome.Accepted(200, "", "provider-id"));
    }

    @Override
    public int mostTogether(Push push) {
      return together;
    }

    @Override
    public List<DeliveryOutcome> send(Push push, List<Recipient> recipients) {
      requests.add(recipients.stream().map(it -> it.device().value()).toList());
      return recipients.stream().map(recipient -> send(push, recipient)).toList();
    }
  }

  @BeforeEach
  void empty() {
    for (String table : List.of("inbox", "later", "deliveries", "messages", "channel_tokens")) {
      servers.sql().update("DELETE FROM " + table);
    }
  }

  @AfterEach
  void close() {
    nodes.close();
    redis.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    servers.close();
  }

  @Test
  void what_a_provider_takes_is_delivered() throws Exception {
    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("d1", "t1").toFcm("d2", "t2").build());

    assertThat(events(DeliveryEvent.Ended.class))
        .hasSize(2)
        .allSatisfy(ended -> {
          assertThat(ended.state()).isEqualTo(DeliveryState.DELIVERED);
          assertThat(ended.attempt().providerId()).isEqualTo("provider-id");
        });
  }

  @Test
  void the_wait_in_the_queue_and_the_whole_way_are_timed() {
    Push push = aPush(clock).from(APP).toFcm("d1", "t1").build();
    clock.advance(Duration.ofSeconds(2));

    deliver(Channel.FCM, push);
    deliver(Channel.FCM, push.again());
    deliver(Channel.FCM, push.putOff());

    Timer wait = meters.get("pushplanet.queue.wait").tag("lane", "push.fcm.high").timer();
    assertThat(wait.count()).isEqualTo(1);
    assertThat(wait.totalTime(TimeUnit.SECONDS)).isEqualTo(2);
    Timer whole =
        meters
            .get("pushplanet.accept.to.outcome")
            .tags("channel", "fcm", "priority", "high", "result", "delivered")
            .timer();
    assertThat(whole.count()).isEqualTo(3);
  }

  @Test
  void what_is_put_off_waits_without_a_request_and_takes_no_neighbour_along() throws Exception {
    hms.puttingOff = true;
    Push first = aPush(clock).from(APP).toHms("d1", "t1").build();
    Push back = aPush(clock).from(APP).toHms("d2", "t2").build().again();

    deliver(Channel.HMS, first, back);

    assertThat(hms.requests).containsExactly(List.of("d2"));
    assertThat(servers.sql().queryForList("SELECT reason FROM later", String.class))
        .containsExactly("project_quota_rest");
    // It was not tried.
    assertThat(servers.sql().queryForList("SELECT pushes FROM later", String.class))
        .singleElement()
        .satisfies(waiting -> assertThat(waiting).contains("\"d1\"", "\"attempt\":0"));
  }

  @Test
  void neighbours_of_one_message_travel_together_and_end_each_on_its_own() throws Exception {
    hms.together = 3;
    hms.answers.put("d2", new DeliveryOutcome.Rejected(200, "80100000"));
    hms.answers.put("d3", new DeliveryOutcome.Deferred(503, "http_503", null, false));
    Push message = aPush(clock).from(APP).toHms("d1", "t1").toHms("d2", "t2").build();
    Push chunk = message.to(aPush(clock).toHms("d3", "t3").toHms("d4", "t4").build().recipients());
    Push other = aPush(clock).from(APP).toHms("d5", "t5").build();
    Push retry = message.to(aPush(clock).toHms("d6", "t6").build().recipients()).again();

    deliver(Channel.HMS, message, chunk, other, retry);

    assertThat(hms.requests)
        .containsExactlyInAnyOrder(
            List.of("d1", "d2", "d3"), List.of("d4"), List.of("d5"), List.of("d6"));
    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(ended -> ended.device().value() + " " + ended.state().word())
        .containsExactlyInAnyOrder(
            "d1 delivered", "d2 failed", "d4 delivered", "d5 delivered", "d6 delivered");
    assertThat(servers.sql().queryForList("SELECT pushes FROM later", String.class))
        .singleElement()
        .satisfies(waiting -> assertThat(waiting).contains("\"d3\"").doesNotContain("\"d1\""));
  }

  @Test
  void bark_369_one_bad_token_does_not_touch_its_neighbours() throws Exception {
    fcm.answers.put("d2", new DeliveryOutcome.Rejected(400, "INVALID_ARGUMENT"));
    fcm.answers.put("d3", new DeliveryOutcome.Deferred(503, "UNAVAILABLE", null, true));

    deliver(
        Channel.FCM,
        aPush(clock).from(APP).toFcm("d1", "t1").toFcm("d2", "t2").toFcm("d3", "t3").build());

    assertThat(fcm.sent).containsExactlyInAnyOrder("d1", "d2", "d3");
    assertThat(servers.sql().queryForList("SELECT pushes FROM later", String.class))
        .singleElement()
        .satisfies(waiting ->
            assertThat(waiting)
                .contains("\"d3\"", "\"attempt\":1")
                .doesNotContain("\"d1\"", "\"d2\""));
  }

  @Test
  void what_expired_in_the_queue_is_not_sent() throws Exception {
    Push push =
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ofSeconds(5), null))
            .toFcm("d1", "t")
            .build();
    clock.advance(Duration.ofSeconds(5));

    deliver(Channel.FCM, push);

    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> assertThat(ended.state()).isEqualTo(DeliveryState.EXPIRED));
  }

  @Test
  void a_retry_that_would_come_after_the_ttl_is_not_made() throws Exception {
    fcm.answers.put(
        "d1", new DeliveryOutcome.Deferred(503, "UNAVAILABLE", Duration.ofSeconds(60), true));

    deliver(
        Channel.FCM,
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ofSeconds(30), null))
            .toFcm("d1", "t")
            .build());

    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> {
          assertThat(ended.state()).isEqualTo(DeliveryState.EXPIRED);
          assertThat(ended.attempt().reason()).isEqualTo("UNAVAILABLE");
        });
  }

  @Test
  void a_long_wait_of_our_own_making_ends_with_a_last_try_before_the_ttl_does() throws Exception {
    apns.answers.put("d1", new DeliveryOutcome.Deferred(503, "ServiceUnavailable", null, true));
    Push push =
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ofMinutes(5), null))
            .toApns("d1", "ab")
            .build();

    deliver(Channel.APNS, push.again());

    assertThat(servers.sql().queryForObject("SELECT due_at FROM later", Timestamp.class))
        .isEqualTo(Timestamp.from(push.expiresAt().minusSeconds(2)));
  }

  @Test
  void a_device_that_is_away_gets_its_vendor_where_it_has_one_and_the_inbox_otherwise()
      throws Exception {
    Push push = aPush(clock).from(APP).toMqtt("d1").build();
    Recipient both =
        new Recipient(new DeviceId("d2"), true, null, new FcmToken("t2", "token", clock.instant()));

    deliver(Channel.MQTT, push, push.to(List.of(both)));

    assertThat(servers.sql().queryForList("SELECT device_id FROM inbox", String.class))
        .containsExactly("d1");
    assertThat(servers.drain("push.fcm.high", Push.class))
        .singleElement()
        .satisfies(fallback -> {
          assertThat(fallback.recipients()).containsExactly(both);
          assertThat(fallback.tried()).containsExactly(Channel.MQTT);
        });
  }

  @Test
  void of_one_collapse_key_the_inbox_keeps_the_newest_and_tells_of_the_others() throws Exception {
    DeliveryOptions collapsing = options(Route.MQTT, Duration.ofHours(1), "score");
    Push older = aPush(clock).from(APP).delivered(collapsing).toMqtt("d1").build();
    Push newer = newerThan(older, collapsing);

    deliver(Channel.MQTT, newer);
    deliver(Channel.MQTT, older);
    deliver(Channel.MQTT, newer);

    assertThat(servers.sql().queryForList("SELECT message_id FROM inbox", String.class))
        .containsExactly(newer.id().value());
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> {
          assertThat(ended.message()).isEqualTo(older.id());
          assertThat(ended.attempt().reason()).isEqualTo("collapsed");
        });
  }

  @Test
  void now_or_never_is_never_when_the_device_is_away() throws Exception {
    deliver(
        Channel.MQTT,
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ZERO, null))
            .toMqtt("d1")
            .build());

    assertThat(servers.sql().queryForList("SELECT device_id FROM inbox")).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> assertThat(ended.state()).isEqualTo(DeliveryState.EXPIRED));
  }

  @Test
  void a_token_that_the_provider_calls_gone_is_forgotten_unless_it_was_registered_again()
      throws Exception {
    register("d1", "old-token", clock.instant().minusSeconds(3_600));
    register("d2", "new-token", clock.instant());
    Instant since = clock.instant().minusSeconds(60);
    apns.answers.put("d1", new DeliveryOutcome.TokenGone(410, "Unregistered", since));
    apns.answers.put("d2", new DeliveryOutcome.TokenGone(410, "Unregistered", since));

    deliver(
        Channel.APNS,
        aPush(clock).from(APP).toApns("d1", "old-token").toApns("d2", "new-token").build());

    assertThat(
            servers
                .sql()
                .queryForList(
                    "SELECT device_id FROM channel_tokens WHERE dead_at IS NOT NULL", String.class))
        .containsExactly("d1");
    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(ended -> ended.attempt().action())
        .containsExactlyInAnyOrder("token forgotten", "token kept: registered again since");
  }

  @Test
  void what_was_not_sent_does_not_hide_that_too_many_tokens_die() throws Exception {
    IntStream.range(0, 100)
        .forEach(i ->
            fcm.answers.put(
                "off" + i, new DeliveryOutcome.Deferred(0, "project_quota_rest", null, false)));
    var gone = new DeliveryOutcome.TokenGone(404, "UNREGISTERED", clock.instant());
    IntStream.range(0, 11).forEach(i -> fcm.answers.put("dead" + i, gone));
    fcm.answers.put("last0", gone);

    deliver(Channel.FCM, toFcm("good", 188));
    deliver(Channel.FCM, toFcm("off", 100));
    deliver(Channel.FCM, toFcm("dead", 11));
    deliver(Channel.FCM, toFcm("last", 1));

    assertThat(meters.get("pushplanet.tokens").tag("result", "spared").counter().count())
        .isEqualTo(1);
  }

  private Push toFcm(String devices, int count) {
    PushBuilder push = aPush(clock).from(APP);
    IntStream.range(0, count).forEach(i -> push.toFcm(devices + i, "token-" + devices + i));
    return push.build();
  }

  @Test
  void a_route_that_was_left_behind_by_a_registration_is_forgotten_with_its_dead_token()
      throws Exception {
    RouteStore routes = new RouteStore(redis.connect());
    DeviceKey device = new DeviceKey(new AppId(APP), new DeviceId("d1"));
    ApnsToken former = new ApnsToken("old-token", "production", clock.instant());
    routes.put(
        Map.of(
            device,
            new DeviceRoute(device.device(), Platform.IOS, false, former, null, null, null)));
    register("d1", "new-token", clock.instant());
    apns.answers.put("d1", new DeliveryOutcome.TokenGone(410, "Unregistered", clock.instant()));

    deliver(Channel.APNS, aPush(clock).from(APP).toApns("d1", "old-token").build());

    assertThat(routes.find(List.of(device))).isEmpty();
  }

  @Test
  void a_subscription_that_is_gone_is_forgotten_unless_the_browser_made_another() throws Exception {
    Instant asked = clock.instant();
    ScriptedProvider webpush = new ScriptedProvider(Channel.WEBPUSH);
    Delivery toBrowsers =
        DeliveryForTests.at(
            servers,
            servers.sessions(),
            nodes,
            new RouteStore(redis.connect()),
            clock,
            meters,
            webpush);
    for (String device : List.of("d1", "d2", "d3")) {
      webpush.answers.put(device, new DeliveryOutcome.TokenGone(410, "http_410", asked));
    }
    subscribed("d1", "{\"a\":1}", asked.minusSeconds(60));
    subscribed("d2", "{\"a\":\"another\"}", asked.minusSeconds(60));
    subscribed("d3", "{\"a\":1}", asked.plusSeconds(1));

    toBrowsers.deliver(
        Channel.WEBPUSH,
        batch(
            aPush(clock)
                .from(APP)
                .toWebPush("d1", "{\"a\":1}")
                .toWebPush("d2", "{\"a\":1}")
                .toWebPush("d3", "{\"a\":1}")
                .build()),
        false);

    assertThat(
            servers
                .sql()
                .queryForList(
                    "SELECT device_id FROM channel_tokens WHERE dead_at IS NOT NULL", String.class))
        .containsExactly("d1");
  }

  private void subscribed(String device, String json, Instant registeredAt) {
    servers
        .sql()
        .update(
            "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment,"
                + " registered_at) VALUES (?, ?, 'webpush', ?, 'subscription', 'production', ?)",
            APP,
            device,
            json,
            Timestamp.from(registeredAt));
  }

  @Test
  void a_dead_token_of_a_device_with_mqtt_leads_to_its_inbox() throws Exception {
    fcm.answers.put("d1", new DeliveryOutcome.TokenGone(404, "UNREGISTERED", clock.instant()));
    Recipient both =
        new Recipient(new DeviceId("d1"), true, null, new FcmToken("t", "token", clock.instant()));

    deliver(Channel.FCM, aPush(clock).from(APP).build().to(List.of(both)));

    assertThat(servers.drain("push.mqtt.high", Push.class))
        .singleElement()
        .satisfies(push -> assertThat(push.tried()).containsExactly(Channel.FCM));
    assertThat(events(DeliveryEvent.Ended.class)).isEmpty();
  }

  @Test
  void a_device_that_left_and_whose_token_is_dead_finds_the_message_in_its_inbox()
      throws Exception {
    fcm.answers.put("d1", new DeliveryOutcome.TokenGone(404, "UNREGISTERED", clock.instant()));
    Recipient both =
        new Recipient(new DeviceId("d1"), true, null, new FcmToken("t", "token", clock.instant()));

    deliver(Channel.MQTT, aPush(clock).from(APP).build().to(List.of(both)));
    deliver(Channel.FCM, servers.drain("push.fcm.high", Push.class).getFirst());
    Push last = servers.drain("push.mqtt.high", Push.class).getFirst();
    deliver(Channel.MQTT, last);

    assertThat(last.tried()).containsExactly(Channel.MQTT, Channel.FCM);
    assertThat(servers.sql().queryForList("SELECT device_id FROM inbox", String.class))
        .containsExactly("d1");
    assertThat(events(DeliveryEvent.Ended.class)).isEmpty();
  }

  @Test
  void what_a_vendor_refuses_still_reaches_a_device_that_has_mqtt() throws Exception {
    fcm.answers.put("d1", new DeliveryOutcome.Rejected(0, "no_credential"));
    Recipient both =
        new Recipient(new DeviceId("d1"), true, null, new FcmToken("t", "token", clock.instant()));

    deliver(Channel.FCM, aPush(clock).from(APP).build().to(List.of(both)));

    assertThat(servers.drain("push.mqtt.high", Push.class)).hasSize(1);
    assertThat(events(DeliveryEvent.Ended.class)).isEmpty();
  }

  @Test
  void a_batch_that_is_handed_out_twice_reaches_the_provider_once() throws Exception {
    Push push = aPush(clock).from(APP).toFcm("d1", "t1").build();
    deliver(Channel.FCM, push);
    new StatisticsWriter(servers.database())
        .write(servers.drain(Topology.EVENTS, DeliveryEvent.class));

    delivery.deliver(Channel.FCM, batch(push), true);

    assertThat(fcm.sent).containsExactly("d1");
  }

  @Test
  void a_cancelled_message_that_comes_back_goes_no_further() throws Exception {
    Push push = aPush(clock).from(APP).toFcm("d1", "t1").build();
    servers
        .sql()
        .update(
            "INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at, cancelled_at) VALUES (?, ?, ?, '', '', '', NOW(), NOW(), NOW())",
            push.id().day(),
            push.id().value(),
            APP);

    deliver(Channel.FCM, push.again());

    assertThat(fcm.sent).isEmpty();
  }

  @Test
  void a_channel_without_a_provider_fails_and_says_so() throws Exception {
    deliver(
        Channel.WEBPUSH,
        aPush(clock)
            .from(APP)
            .toFcm("d1", "t")
            .delivered(options(Route.VENDOR, Duration.ofHours(1), null))
            .build());

    assertThat(servers.drain("push.fcm.high", Push.class)).hasSize(1);
  }

  @Test
  void rubbish_is_for_the_dead_letters_and_touches_nothing() throws Exception {
    byte[] rubbish = "[{\"id\":1}]".getBytes(StandardCharsets.UTF_8);

    assertThatThrownBy(() -> delivery.deliver(Channel.FCM, rubbish, false))
        .isInstanceOf(DeadItems.class);
    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class)).isEmpty();
  }

  private void deliver(Channel channel, Push... pushes) {
    delivery.deliver(channel, batch(pushes), false);
  }

  private static byte[] batch(Push... pushes) {
    return WireForm.join(Arrays.stream(pushes).map(WireForm::write).toList());
  }

  private <T extends DeliveryEvent> List<T> events(Class<T> type) throws Exception {
    return servers.drain(Topology.EVENTS, DeliveryEvent.class).stream()
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  private Push newerThan(Push older, DeliveryOptions options) {
    Push newer =
        aPush(clock)
            .from(APP)
            .delivered(options)
            .toMqtt("d1")
            .saying(new Content("newer", null, Map.of()))
            .build();
    while (newer.id().compareTo(older.id()) < 0) {
      newer = aPush(clock).from(APP).delivered(options).toMqtt("d1").build();
    }
    return newer;
  }

  private void register(String device, String token, Instant at) {
    servers
        .sql()
        .update(
            "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at) VALUES (?, ?, 'apns', ?, 'token', 'production', ?)",
            APP,
            device,
            token,
            Timestamp.from(at));
  }

  private static DeliveryOptions options(Route route, Duration ttl, @Nullable String collapseKey) {
    return new DeliveryOptions(route, ttl, Priority.HIGH, collapseKey, Duration.ofSeconds(5));
  }

  private static RealServers start() {
    try {
      return new RealServers();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
