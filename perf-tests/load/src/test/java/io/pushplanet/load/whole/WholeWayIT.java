package io.pushplanet.load.whole;

import static io.pushplanet.load.whole.WholePlatform.PATIENCE;
import static io.pushplanet.load.whole.WholePlatform.content;
import static io.pushplanet.load.whole.WholePlatform.quoted;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.dashboard.browser.Chromium;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.quickstart.platform.Program;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A message's whole way through all processes as shipped, with clients that we did not write: an
/// HTTP client, Mosquitto's tools and Chromium.
class WholeWayIT {
  private static final String BUNDLE = "io.pushplanet.demo";
  private static final JsonMapper JSON = JsonMapper.shared();

  @TempDir static Path state;
  private static WholePlatform whole;

  @BeforeAll
  static void up() {
    whole = new WholePlatform(state);
  }

  @AfterAll
  static void down() {
    whole.close();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void no_other_machine_reaches_a_port() throws Exception {
    var sockets = ListeningSockets.below(state);

    assertThat(sockets).allMatch(socket -> socket.getAddress().isLoopbackAddress());
    var at = whole.at;
    assertThat(sockets)
        .extracting(InetSocketAddress::getPort)
        .contains(at.mqttPort(), at.mqttTlsPort())
        .contains(
            ports(
                at.dispatcherUrl(),
                at.dashboardUrl(),
                at.dispatcherManagementUrl(),
                at.dashboardManagementUrl(),
                at.workerManagementUrl(),
                at.cmManagementUrl(),
                at.simulatorsUrl(),
                at.apnsUrl(),
                at.fcmUrl(),
                at.hmsUrl(),
                at.webpushUrl(),
                at.redisUri(),
                at.amqpUri()));
  }

  private static Integer[] ports(String... addresses) {
    return Arrays.stream(addresses)
        .map(address -> URI.create(address).getPort())
        .toArray(Integer[]::new);
  }

  @Test
  void a_subscriber_gets_the_sent_bytes() throws Exception {
    var device = whole.mosquitto();
    var subscriber = device.subscribe(1, PATIENCE);
    var title = "Grüße \"quoted\" \\ 배송 🚚 \u2028 <b>&amp;</b>";
    var data = "{\"order\":\"77\",\"empty\":\"\",\"emoji\":\"👩‍👩‍👧\"}";

    var id =
        whole.send(
            device.audience(), "{\"title\":" + quoted(title) + ",\"data\":" + data + "}", "{}");

    var payload = subscriber.payloads().getFirst();
    var received = JSON.readTree(payload);
    assertThat(received.path("id").asString()).isEqualTo(id);
    assertThat(received.path("title").asString()).isEqualTo(title);
    assertThat(received.path("data")).isEqualTo(JSON.readTree(data));
    assertThat(payload).contains("배송 🚚").contains("👩‍👩‍👧");
    Eventually.within(
        PATIENCE, () -> assertThat(whole.counts(id).path("delivered").asInt()).isOne());
  }

  @Test
  void messages_wait_for_an_absent_device_by_collapse_key_and_ttl() throws Exception {
    var device = whole.mosquitto();
    var old = whole.send(device.audience(), content("v1"), "{\"collapse_key\":\"order-77\"}");
    Eventually.within(PATIENCE, () -> assertThat(whole.attempts(old)).isPositive());
    var current = whole.send(device.audience(), content("v2"), "{\"collapse_key\":\"order-77\"}");
    var plain = whole.send(device.audience(), content("plain"), "{\"ttl\":\"PT6H\"}");
    var brief = whole.send(device.audience(), content("brief"), "{\"ttl\":\"PT1S\"}");
    Eventually.within(PATIENCE, () -> assertThat(whole.attempts(current)).isPositive());
    Eventually.within(PATIENCE, () -> assertThat(whole.attempts(plain)).isPositive());
    Eventually.within(
        PATIENCE, () -> assertThat(whole.counts(brief).path("expired").asInt()).isOne());

    assertThat(ids(device.subscribe(2, PATIENCE))).containsExactly(current, plain);
    Eventually.within(
        PATIENCE,
        () -> {
          assertThat(whole.counts(current).path("delivered").asInt()).isOne();
          assertThat(whole.counts(plain).path("delivered").asInt()).isOne();
          assertThat(whole.counts(old).path("delivered").asInt()).isZero();
          assertThat(whole.api.call("GET", "/messages/" + old, "").text("state")).isEqualTo("done");
        });
    // Waiting messages come before a last one; acknowledged messages may come again.
    var last = whole.send(device.audience(), content("last"), "{}");
    var later = new ArrayList<String>();
    Eventually.within(
        PATIENCE,
        () -> {
          later.addAll(ids(device.subscribe(1, PATIENCE)));
          assertThat(later).contains(last);
        });
    assertThat(later).doesNotContain(old, brief);
  }

  @Test
  void a_batch_for_an_absent_device_comes_in_its_order() throws Exception {
    var device = whole.mosquitto();
    var message =
        "{\"audience\":%s,\"content\":%s}".formatted(device.audience(), content("one of many"));
    var accepted =
        whole.api.call(
            "POST",
            "/messages:batch",
            "{\"messages\":[" + String.join(",", Collections.nCopies(20, message)) + "]}");
    var batch =
        accepted
            .body()
            .path("results")
            .valueStream()
            .map(one -> one.path("id").asString())
            .toList();
    for (var id : batch) {
      Eventually.within(PATIENCE, () -> assertThat(whole.attempts(id)).isPositive());
    }

    assertThat(ids(device.subscribe(batch.size(), PATIENCE))).hasSize(20).isEqualTo(batch);
  }

  @Test
  void messages_keep_their_order_also_with_a_new_worker() throws Exception {
    int many = 200;
    var device = whole.mosquitto();
    var subscriber = device.subscribe(1 + many, PATIENCE.multipliedBy(2));
    var sent = new ArrayList<String>();
    sent.add(whole.send(device.audience(), content("it is connected"), "{}"));
    whole.delivered(sent.getFirst());

    whole.platform.kill9(Program.WORKER);
    for (int number = 0; number < many; number++) {
      if (number == many / 2) {
        whole.platform.restart(Program.WORKER);
      }
      sent.add(whole.send(device.audience(), content("" + number), "{}"));
    }

    assertThat(ids(subscriber)).hasSize(1 + many).isEqualTo(sent);
  }

  @Test
  void a_broadcast_reaches_all_devices_although_their_node_is_killed() throws Exception {
    var audience = whole.audience(130);
    var devices = audience.devices();
    var stranger = whole.mosquitto();
    whole.subscribe(stranger.device(), audience.topic());
    var sightings = new Sightings();
    // The others are away, and are enough to share one list.
    try (var fleet = whole.fleet(devices.subList(0, 90), sightings)) {
      var id = whole.sendTo(audience);
      whole.platform.kill9(Program.CONNECTION_MANAGER);
      whole.platform.restart(Program.CONNECTION_MANAGER);
      fleet.add(devices.subList(90, devices.size()));
      assertThat(fleet.awaitReady(PATIENCE)).as("%s", fleet.reasons()).isTrue();
      var payloads = stranger.subscribe(1, PATIENCE).payloads();

      assertThat(payloads)
          .extracting(payload -> JSON.readTree(payload).path("id").asString())
          .containsExactly(id);
      whole.awaitDelivered(id, 131);
      assertThat(devices)
          .allSatisfy(device -> assertThat(sightings.times(device.id(), id)).isPositive());
    }
  }

  @Test
  void a_broadcast_reaches_all_devices_although_the_worker_is_killed() throws Exception {
    var sightings = new Sightings();
    var halt = new Halt(sightings, 20);
    var audience = whole.audience(60);
    var devices = audience.devices();
    try (var fleet = whole.fleet(devices, halt)) {
      var id = whole.sendTo(audience);
      halt.awaitReached();
      whole.platform.kill9(Program.WORKER);
      halt.goOn();
      whole.platform.restart(Program.WORKER);

      whole.awaitDelivered(id, 60);
      // Their acknowledgements went to a worker that is gone, so the next worker sends the same
      // message again; nevertheless each device counts once.
      assertThat(devices)
          .allSatisfy(device -> assertThat(sightings.times(device.id(), id)).isPositive());
      assertThat(whole.counts(id).path("recipients").asInt()).isEqualTo(60);
      assertThat(whole.counts(id).path("delivered").asInt()).isEqualTo(60);
      assertThat(fleet.counts().ready()).isEqualTo(60);
    }
  }

  @Test
  void a_broadcast_reaches_all_devices_once_although_redis_loses_its_data() throws Exception {
    // The platform does not promise once: on a machine that stands still for seconds the message
    // comes again.
    Undisturbed.play(() -> {
      var sightings = new Sightings();
      var halt = new Halt(sightings, 20);
      var audience = whole.audience(60);
      var devices = audience.devices();
      try (var fleet = whole.fleet(devices, halt)) {
        var id = whole.sendTo(audience);
        halt.awaitReached();
        whole.flushAll();
        halt.goOn();

        whole.awaitDelivered(id, 60);
        var next = whole.sendTo(audience);
        whole.awaitDelivered(next, 60);
        assertThat(devices)
            .allSatisfy(device -> {
              assertThat(sightings.times(device.id(), id)).isOne();
              assertThat(sightings.times(device.id(), next)).isPositive();
            });
        assertThat(fleet.counts().cuts()).isZero();
      }
    });
  }

  @Test
  void a_receipt_of_the_device_shows_as_opened() throws Exception {
    var device = whole.mosquitto();
    var subscriber = device.subscribe(1, PATIENCE);
    var id = whole.send(device.audience(), content("open me"), "{}");
    assertThat(subscriber.payloads()).hasSize(1);

    device.publish("push/receipts", "{\"id\":\"" + id + "\",\"event\":\"opened\"}");

    Eventually.within(PATIENCE, () -> assertThat(whole.counts(id).path("opened").asInt()).isOne());
  }

  @Test
  void an_uploaded_p8_replaces_the_former_one_for_the_next_push(@TempDir Path folder)
      throws Exception {
    var audience = "{\"device\":\"" + iphone().device() + "\"}";
    whole.delivered(whole.send(audience, content("with the former key"), "{}"));
    var issued = newKey(folder);
    whole.delivered(whole.send(audience, content("with the new key"), "{}"));

    // Only the new key is in use: once it is revoked at Apple, pushes are refused although the
    // former one is still valid.
    whole.simulators.call("DELETE", "/apns/keys/" + issued.text("key_id"), "");
    try {
      var refused = whole.send(audience, content("with a revoked key"), "{\"ttl\":\"PT1M\"}");
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(
                      whole
                          .api
                          .call("GET", "/messages/" + refused + "/deliveries", "")
                          .body()
                          .toString())
                  .contains("InvalidProviderToken"));
    } finally {
      // The other tests push with a valid key again.
      newKey(folder);
    }
  }

  @Test
  void a_timeline_shows_one_outcome_while_another_is_missing() throws Exception {
    // Apple's silence lasts for ten seconds, which a machine that stands still for as long does not
    // notice.
    Undisturbed.play(() -> {
      // Of a new connection the first request goes alone until it is answered.
      var first = "{\"device\":\"" + iphone().device() + "\"}";
      whole.delivered(whole.send(first, content("proves the connection"), "{}"));
      var gone = iphone();
      var silent = iphone();
      whole.simulators.call(
          "POST",
          "/scenario",
          "apns token %s answer 410 Unregistered\napns token %s silence"
              .formatted(gone.token(), silent.token()));

      var id =
          whole.send(
              "{\"devices\":[\"" + gone.device() + "\",\"" + silent.device() + "\"]}",
              content("to both"),
              "{\"ttl\":\"PT1M\"}");

      Eventually.within(PATIENCE, () -> assertThat(attempts(id, gone)).isNotEmpty());
      assertThat(attempts(id, silent)).isEmpty();
      var attempt = attempts(id, gone).get(0);
      assertThat(attempt.path("channel").asString()).isEqualTo("apns");
      assertThat(attempt.path("result").asString()).isEqualTo("rejected");
      assertThat(attempt.path("status").asInt()).isEqualTo(410);
      assertThat(attempt.path("reason").asString()).isEqualTo("Unregistered");
      assertThat(attempt.path("action").asString()).isEqualTo("token forgotten");
    });
  }

  private record Iphone(String device, String token) {}

  private static Iphone iphone() throws Exception {
    var iphone =
        new Iphone(
            "iphone-" + UUID.randomUUID(), UUID.randomUUID().toString().replace("-", "").repeat(2));
    whole.simulators.call(
        "PUT", "/apns/tokens/" + iphone.token(), "{\"topic\":\"" + BUNDLE + "\"}");
    var registered =
        whole.api.call(
            "PUT",
            "/devices/" + iphone.device(),
            "{\"platform\":\"ios\",\"channels\":{\"apns\":{\"token\":\""
                + iphone.token()
                + "\",\"environment\":\"production\"}}}");
    assertThat(registered.status()).as(registered.toString()).isEqualTo(201);
    return iphone;
  }

  private static JsonNode attempts(String id, Iphone iphone) throws Exception {
    return whole
        .api
        .call("GET", "/messages/" + id + "/deliveries?device=" + iphone.device(), "")
        .body()
        .path("data")
        .path(0)
        .path("attempts");
  }

  /// An unused key of Apple's, uploaded in the browser: the former one may be revoked.
  private static Api.Answer newKey(Path folder) throws Exception {
    var issued = whole.simulators.call("POST", "/apns/keys", "{\"topics\":[\"" + BUNDLE + "\"]}");
    var file = Files.writeString(folder.resolve("AuthKey.p8"), issued.text("p8"));
    try (var chromium = Chromium.open(whole.at.dashboardUrl())) {
      chromium
          .login(whole.at.operatorUser(), whole.at.operatorPassword())
          .go("/apps/" + whole.at.app() + "/credentials")
          .type("p8-file", file.toString())
          .type("p8-team", issued.text("team_id"))
          .type("p8-key", issued.text("key_id"))
          .type("p8-bundle", BUNDLE)
          .pressIn("/p8", "Check and activate");
      assertThat(chromium.text()).contains("active: the next push uses it");
    }
    return issued;
  }

  /// Apple refuses a second provider token of a key for 20 minutes, so the worker after the killed
  /// one must find the token that Redis had lost.
  @Test
  void a_live_activity_survives_the_loss_of_redis_and_the_worker(@TempDir Path folder)
      throws Exception {
    var key = newKey(folder);
    var channel = whole.api.call("POST", "/live-activity-channels", "{}");
    assertThat(channel.status()).as(channel.toString()).isEqualTo(202);
    var path = "/live-activity-channels/" + channel.text("channel");
    Eventually.within(
        PATIENCE,
        () -> {
          var made = whole.api.call("GET", path, "");
          assertThat(made.text("state")).as(made.toString()).isEqualTo("ready");
        });

    whole.delivered(update(channel.text("channel"), 45));
    whole.flushAll();
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(
                    whole.redis(
                        "KEYS apns-token:" + key.text("team_id") + ":" + key.text("key_id") + ":*"))
                .isEqualTo("*1"));
    whole.platform.kill9(Program.WORKER);
    whole.platform.restart(Program.WORKER);
    whole.delivered(update(channel.text("channel"), 90));

    var apple = whole.api.call("GET", path, "").text("apns_channel_id");
    var ledger =
        whole.simulators.call(
            "GET", "/ledger?token=" + URLEncoder.encode(apple, StandardCharsets.UTF_8), "");
    assertThat(ledger.body().valueStream().filter(sent -> sent.path("delivered").asBoolean()))
        .extracting(sent -> sent.path("payload").at("/aps/content-state/minute").asInt())
        .contains(45, 90);
    assertThat(whole.api.call("DELETE", path, "").status()).isBetween(200, 204);
    Eventually.within(
        PATIENCE, () -> assertThat(whole.api.call("GET", path, "").status()).isEqualTo(404));
  }

  private static String update(String channel, int minute) throws Exception {
    var accepted =
        whole.api.call(
            "POST",
            "/messages",
            """
            {"audience":{"channel":"%s"},
             "live_activity":{"event":"update","content_state":{"minute":%d}}}
            """
                .formatted(channel, minute));
    assertThat(accepted.status()).as(accepted.toString()).isEqualTo(202);
    return accepted.text("id");
  }

  @Test
  void a_browser_gets_pushes_before_and_after_its_subscription_was_gone() throws Exception {
    var browser = "browser-" + UUID.randomUUID();
    var subscription = whole.simulators.call("POST", "/webpush/subscriptions", "{}").body();
    var registration =
        "{\"platform\":\"web\",\"tags\":[\"" + browser + "\"],\"channels\":{\"webpush\":%s}}";
    whole.api.call("PUT", "/devices/" + browser, registration.formatted(subscription));
    var endpoint = subscription.path("endpoint").asString();
    var path = "/webpush/subscriptions/" + endpoint.substring(endpoint.lastIndexOf('/') + 1);

    var direct = whole.send("{\"device\":\"" + browser + "\"}", content("to the browser"), "{}");
    whole.delivered(direct);
    var broad = whole.send("{\"tag\":\"" + browser + "\"}", content("to all such browsers"), "{}");
    whole.delivered(broad);
    var ledger = "/ledger?token=" + path.substring(path.lastIndexOf('/') + 1);
    assertThat(whole.simulators.call("GET", ledger, "").body().toString())
        .contains(direct)
        .contains("to the browser")
        .contains("to all such browsers");

    whole.simulators.call("PUT", path, "{\"gone\":true}");
    var late = whole.send("{\"device\":\"" + browser + "\"}", content("too late"), "{}");
    Eventually.within(
        PATIENCE,
        () -> {
          assertThat(whole.counts(late).path("failed").asInt())
              .as(() -> whole.timeline(late))
              .isOne();
          assertThat(whole.timeline(late)).contains("http_410").contains("token forgotten");
          assertThat(
                  whole
                      .api
                      .call("GET", "/devices/" + browser, "")
                      .body()
                      .path("channels")
                      .toString())
              .doesNotContain("webpush");
        });

    var anew = whole.simulators.call("POST", "/webpush/subscriptions", "{}").body();
    whole.api.call("PUT", "/devices/" + browser, registration.formatted(anew));
    whole.delivered(whole.send("{\"device\":\"" + browser + "\"}", content("back again"), "{}"));
  }

  @Test
  void one_request_serves_huaweis_phones_despite_an_illegal_token() throws Exception {
    var tag = "huawei-" + UUID.randomUUID();
    var registration =
        "{\"platform\":\"android\",\"tags\":[\"%s\"],\"channels\":{\"hms\":{\"token\":\"%s\"}}}";
    for (var name : List.of("a", "b", "c")) {
      whole.api.call(
          "PUT", "/devices/" + tag + name, registration.formatted(tag, "token-" + tag + name));
    }

    var direct = whole.send("{\"device\":\"" + tag + "a\"}", content("to one"), "{}");
    whole.delivered(direct);
    whole.simulators.call("PUT", "/hms/tokens/token-" + tag + "b", "{\"invalid\":true}");
    var broad = whole.send("{\"tag\":\"" + tag + "\"}", content("to all"), "{}");

    Eventually.within(
        PATIENCE,
        () -> {
          assertThat(whole.counts(broad).path("delivered").asInt())
              .as(() -> whole.timeline(broad))
              .isEqualTo(2);
          assertThat(whole.counts(broad).path("failed").asInt())
              .as(() -> whole.timeline(broad))
              .isOne();
          // With or without the token: the credential is checked again after any change of the
          // app's.
          assertThat(whole.timeline(broad)).contains("80100000").contains("\"token ");
        });
    assertThat(
            whole.simulators.call("GET", "/ledger?token=token-" + tag + "c", "").body().toString())
        .contains(broad)
        .contains("to all");
  }

  @Test
  void a_revoked_key_stops_working_within_a_second() throws Exception {
    try (var chromium = Chromium.open(whole.at.dashboardUrl())) {
      chromium.login(whole.at.operatorUser(), whole.at.operatorPassword());
      // A busy machine may stand still for a second, but not each time.
      Eventually.within(
          PATIENCE.multipliedBy(3),
          () -> assertThat(refusedAfter(chromium)).isLessThan(Duration.ofSeconds(1)));
      assertThat(whole.api.call("GET", "/devices/nobody", "").status()).isEqualTo(404);
    }
  }

  /// How long a key still worked after the page had said that it was revoked.
  private static Duration refusedAfter(Chromium chromium) throws Exception {
    chromium.go("/apps/" + whole.at.app() + "/keys").type("name", "rotated").press("Create key");
    var key = chromium.textOf("#new-key");
    try (var rotated = new Api(whole.at.dispatcherUrl() + "/v1/apps/" + whole.at.app(), key)) {
      Eventually.within(
          PATIENCE,
          () -> assertThat(rotated.call("GET", "/devices/nobody", "").status()).isEqualTo(404));

      chromium.acceptAnyQuestion().pressIn(key.split("_")[1], "Revoke");
      long revoked = System.nanoTime();

      Eventually.within(
          PATIENCE,
          () -> assertThat(rotated.call("GET", "/devices/nobody", "").status()).isEqualTo(401));
      var after = Duration.ofNanos(System.nanoTime() - revoked);
      System.out.printf("revoked key refused %d ms after the page said so%n", after.toMillis());
      return after;
    }
  }

  @Test
  void an_operators_test_push_arrives_and_is_shown() throws Exception {
    var device = whole.mosquitto();
    var subscriber = device.subscribe(1, PATIENCE);
    try (var chromium = Chromium.open(whole.at.dashboardUrl())) {
      chromium
          .login(whole.at.operatorUser(), whole.at.operatorPassword())
          .go("/test-push?app=" + whole.at.app() + "&device=" + device.device())
          .press("Send");

      var received = JSON.readTree(subscriber.payloads().getFirst());
      var id = received.path("id").asString();
      assertThat(chromium.text()).contains(id);
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(chromium.go("/messages/" + id).text()).containsIgnoringCase("delivered"));
    }
  }

  private static List<String> ids(Mosquitto.Subscriber subscriber) throws Exception {
    return subscriber.payloads().stream()
        .map(payload -> JSON.readTree(payload).path("id").asString())
        .toList();
  }
}
