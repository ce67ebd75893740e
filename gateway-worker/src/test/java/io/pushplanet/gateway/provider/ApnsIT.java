package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenForeign;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.apns.ApnsToken;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Fate.Action;
import io.pushplanet.simulators.script.ScriptLine;
import io.pushplanet.simulators.tls.Authority;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.json.JsonMapper;

class ApnsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Clock CLOCK = Clock.systemUTC();
  private static final Simulated APNS = Simulated.APNS;
  private static final String TOKEN = "ab".repeat(32);
  private static @TempDir Path state;
  private static ProviderPlatform platform;

  @BeforeAll
  static void start() {
    platform = ProviderPlatform.start(state);
    platform.uploadKey("shop", key("AAAAAAAAAA", "KEY0000001"), "production");
    Eventually.within(PATIENCE, () -> assertThat(send("shop", TOKEN)).isInstanceOf(Accepted.class));
  }

  @AfterAll
  static void stop() {
    platform.close();
  }

  @AfterEach
  void forgetFaults() {
    platform.simulators.script().clear();
    platform.tokensMayChangeAtOnce(false);
  }

  private static ApnsKey.Issued key(String team, String id) {
    return ApnsKey.issue(team, id, List.of(ProviderPlatform.BUNDLE));
  }

  private static DeliveryOutcome send(String app, String token) {
    return send(platform.provider(Channel.APNS), app, token);
  }

  private static DeliveryOutcome send(Provider provider, String app, String token) {
    Push push = aPush(CLOCK).from(app).toApns("d1", token).build();
    return provider.send(push, push.recipients().getFirst());
  }

  private static List<DeliveryOutcome> sendMany(int count, String app) throws Exception {
    return sendMany(count, platform.provider(Channel.APNS), app);
  }

  private static List<DeliveryOutcome> sendMany(int count, Provider provider, String app)
      throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<DeliveryOutcome>> sent = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String token = "%064x".formatted(i + 1);
        sent.add(threads.submit(() -> send(provider, app, token)));
      }
      List<DeliveryOutcome> outcomes = new ArrayList<>();
      for (Future<DeliveryOutcome> one : sent) {
        outcomes.add(one.get());
      }
      return outcomes;
    }
  }

  @Test
  void two_hundred_pushes_at_once_are_accepted_with_one_provider_token() throws Exception {
    double minted = ProviderPlatform.minted(platform.context, Channel.APNS);

    List<DeliveryOutcome> outcomes = sendMany(200, "shop");

    assertThat(outcomes).hasSize(200).allMatch(Accepted.class::isInstance);
    assertThat(ProviderPlatform.minted(platform.context, Channel.APNS)).isEqualTo(minted);
  }

  @Test
  void apns_is_asked_of_the_longest_token_that_can_be_registered() {
    String longest = "ab".repeat(io.pushplanet.common.message.target.ApnsToken.LONGEST_TOKEN / 2);

    assertThat(send("shop", longest)).isInstanceOf(Accepted.class);
  }

  @Test
  void what_apple_is_not_asked_has_no_status_of_apples() {
    Content reserved = new Content("t", null, Map.of("aps", "v"));
    Push push = aPush(CLOCK).from("shop").saying(reserved).toApns("d1", TOKEN).build();

    assertThat(send("shop", "no hexadecimal token"))
        .isInstanceOfSatisfying(TokenGone.class, gone -> assertThat(gone.status()).isZero());
    assertThat(platform.provider(Channel.APNS).send(push, push.recipients().getFirst()))
        .isEqualTo(new Rejected(0, "reserved_data_key"));
  }

  @Test
  void an_uninstalled_app_is_gone_since_the_time_apns_says() {
    String gone = "cd".repeat(32);
    platform
        .simulators
        .apnsDirectory()
        .register(gone, new ApnsToken("production", "", 1_700_000_000_000L));

    DeliveryOutcome outcome = send("shop", gone);

    assertThat(outcome)
        .isEqualTo(new TokenGone(410, "Unregistered", Instant.ofEpochMilli(1_700_000_000_000L)));
  }

  private static DeliveryOutcome sendActivity(String app, String activityToken) {
    Push plain = aPush(CLOCK).from(app).toApns("d1", TOKEN).build();
    LiveActivity update =
        new LiveActivity(
            LiveActivity.Event.UPDATE,
            activityToken,
            JsonMapper.shared().createObjectNode().put("minute", 90),
            null,
            null,
            null,
            null,
            null);
    Push push = PushBuilder.withOverrides(plain, Overrides.NONE.with(update));
    return platform.provider(Channel.APNS).send(push, push.recipients().getFirst());
  }

  @Test
  void a_live_activity_is_updated_at_its_own_token_and_its_end_is_not_the_devices() {
    String running = "ad".repeat(40);
    String over = "ae".repeat(40);
    platform.simulators.apnsDirectory().register(over, new ApnsToken("production", "", 1));

    DeliveryOutcome updated = sendActivity("shop", running);
    DeliveryOutcome tooLate = sendActivity("shop", over);

    assertThat(updated).isInstanceOf(Accepted.class);
    assertThat(platform.simulators.ledger().entries(running).getLast().headers())
        .containsEntry("apns-push-type", "liveactivity")
        .containsEntry("apns-topic", ProviderPlatform.BUNDLE + ".push-type.liveactivity");
    assertThat(tooLate).isEqualTo(new Rejected(410, "Unregistered"));
  }

  @Test
  void bad_tokens_of_live_activities_do_not_pause_the_apps_credential() {
    platform.uploadKey("activities", key("HHHHHHHHHH", "KEY0000009"), "production");
    platform.simulators.script().add(ScriptLine.next(APNS, 60, Fate.answer(400, "BadDeviceToken")));

    for (int i = 0; i < 60; i++) {
      assertThat(sendActivity("activities", "%080x".formatted(i)))
          .isEqualTo(new Rejected(400, "BadDeviceToken", null, Evidence.NONE));
    }

    assertThat(send("activities", TOKEN)).isInstanceOf(Accepted.class);
  }

  @Test
  void a_send_without_a_credential_is_rejected() {
    assertThat(send("nobody", TOKEN)).isEqualTo(new Rejected(0, "no_credential"));
  }

  @Test
  void apns_in_trouble_defers_and_its_retry_after_is_kept() {
    platform
        .simulators
        .script()
        .add(
            ScriptLine.next(
                APNS,
                1,
                Fate.answer(503, "ServiceUnavailable").retryAfter(Duration.ofSeconds(77))));

    DeliveryOutcome outcome = send("shop", TOKEN);

    assertThat(outcome)
        .isEqualTo(
            new TryAgain(
                503, "ServiceUnavailable", Duration.ofSeconds(77), true, "connection closed"));
  }

  @Test
  void a_retry_after_that_is_not_apples_is_kept_for_a_quarter_of_an_hour_at_most() {
    platform
        .simulators
        .script()
        .add(ScriptLine.next(APNS, 1, Fate.answer(502, "").retryAfter(Duration.ofDays(1))));

    assertThat(send("shop", TOKEN))
        .isInstanceOfSatisfying(
            TryAgain.class,
            again -> {
              assertThat(again.reason()).isEqualTo("http_502");
              assertThat(again.after()).isEqualTo(Duration.ofMinutes(15));
            });
  }

  @Test
  void a_device_that_gets_too_many_rests_alone_and_without_being_asked_for() {
    String busy = "b5".repeat(32);
    platform.simulators.script().add(ScriptLine.next(APNS, 1, Fate.answer(429, "TooManyRequests")));

    assertThat(send("shop", busy))
        .isEqualTo(
            new TryAgain(429, "TooManyRequests", Duration.ofSeconds(30), false, "device rests"));
    assertThat(send("shop", busy))
        .isInstanceOfSatisfying(
            PutOff.class, putOff -> assertThat(putOff.reason()).isEqualTo("device_rest"));
    assertThat(platform.simulators.ledger().entries(busy)).hasSize(1);
    assertThat(send("shop", TOKEN)).isInstanceOf(Accepted.class);
  }

  @Test
  void a_page_that_says_200_is_not_apples() {
    Fate page = new Fate(Action.HTML, 200, "", Duration.ZERO, Duration.ZERO, 0, false);
    platform.simulators.script().add(ScriptLine.next(APNS, 1, page));

    assertThat(send("shop", TOKEN)).isEqualTo(new TryAgain(200, "no_apns_id", null, true));
  }

  @Test
  void a_page_of_html_defers() {
    platform.simulators.script().add(ScriptLine.next(APNS, 1, Fate.of(Action.HTML)));

    assertThat(send("shop", TOKEN)).isEqualTo(new TryAgain(502, "http_502", null, true));
  }

  @Test
  void a_silent_peer_is_left_at_the_deadline_and_the_next_push_reconnects() {
    platform.simulators.script().add(ScriptLine.next(APNS, 1, Fate.of(Action.SILENCE)));
    try (ConfigurableApplicationContext impatient =
        ProviderPlatform.worker(
            platform.simulators, "--gateway.apns.connection.request-timeout=2s")) {
      Provider provider = ProviderPlatform.provider(impatient, Channel.APNS);

      DeliveryOutcome silent = send(provider, "shop", TOKEN);

      assertThat(silent).isEqualTo(new TryAgain(0, "timeout", null, true));
      Eventually.within(
          PATIENCE, () -> assertThat(send(provider, "shop", TOKEN)).isInstanceOf(Accepted.class));
    }
  }

  @Test
  void bark_server_71_a_dropped_connection_is_ambiguous_at_once() {
    platform.simulators.script().add(ScriptLine.next(APNS, 1, Fate.of(Action.DROP)));
    long start = System.nanoTime();

    DeliveryOutcome outcome = send("shop", TOKEN);

    assertThat(outcome)
        .isInstanceOfSatisfying(
            TryAgain.class,
            again -> {
              assertThat(again.ambiguous()).isTrue();
              assertThat(again.reason()).isNotEqualTo("timeout");
            });
    // Without waiting for a deadline, all of which are a minute here.
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(50));
    assertThat(send("shop", TOKEN)).isInstanceOf(Accepted.class);
  }

  @Test
  void a_refused_stream_is_sent_again_at_once() {
    platform.simulators.script().add(ScriptLine.next(APNS, 1, Fate.of(Action.REFUSE)));

    assertThat(send("shop", TOKEN)).isInstanceOf(Accepted.class);
  }

  @Test
  void clave_14_a_goaway_in_the_middle_loses_nothing() throws Exception {
    for (int i = 1; i <= 5; i++) {
      platform
          .simulators
          .script()
          .add(new ScriptLine(APNS, "", 80 * i, 1, 100, Fate.of(Action.GOAWAY)));
    }

    List<DeliveryOutcome> outcomes = sendMany(500, "shop");

    assertThat(outcomes).allMatch(Accepted.class::isInstance);
  }

  @Test
  void an_expired_provider_token_is_renewed_and_the_push_goes_out() {
    // The token is minutes old when it is renewed.
    platform.tokensMayChangeAtOnce(true);
    platform.uploadKey("news", key("BBBBBBBBBB", "KEY0000002"), "production");
    assertThat(send("news", TOKEN)).isInstanceOf(Accepted.class);
    platform
        .simulators
        .script()
        .add(ScriptLine.next(APNS, 1, Fate.answer(403, "ExpiredProviderToken")));

    DeliveryOutcome outcome = send("news", TOKEN);

    assertThat(outcome)
        .isInstanceOfSatisfying(
            DeliveryOutcome.Remedied.class,
            remedied -> {
              assertThat(remedied.reason()).isEqualTo("ExpiredProviderToken");
              assertThat(remedied.then()).isInstanceOf(Accepted.class);
            });
  }

  @Test
  void sparrow_50_a_key_with_too_many_provider_tokens_rests_and_signs_no_other() {
    platform.uploadKey("restless", key("JJJJJJJJJJ", "KEY0000010"), "production");
    assertThat(send("restless", TOKEN)).isInstanceOf(Accepted.class);
    double minted = ProviderPlatform.minted(platform.context, Channel.APNS);
    platform
        .simulators
        .script()
        .add(ScriptLine.next(APNS, 1, Fate.answer(429, "TooManyProviderTokenUpdates")));

    DeliveryOutcome outcome = send("restless", TOKEN);
    int heard = platform.simulators.ledger().entries("").size();
    DeliveryOutcome next = send("restless", TOKEN);

    assertThat(outcome)
        .isInstanceOfSatisfying(
            TryAgain.class,
            again -> {
              assertThat(again.ambiguous()).isFalse();
              assertThat(again.done()).isEqualTo("provider token rests");
            });
    assertThat(next)
        .isInstanceOfSatisfying(
            PutOff.class, putOff -> assertThat(putOff.reason()).isEqualTo("provider_token_rest"));
    assertThat(platform.simulators.ledger().entries("")).hasSize(heard);
    assertThat(send("shop", TOKEN)).isInstanceOf(Accepted.class);
    assertThat(ProviderPlatform.minted(platform.context, Channel.APNS)).isEqualTo(minted);
    assertThat(platform.alerts("restless")).containsExactly("provider_tokens_too_many");
  }

  @Test
  void a_refused_credential_is_a_fault() {
    ApnsKey.Issued revoked = key("CCCCCCCCCC", "KEY0000003");
    platform.uploadKey("revoked", revoked, "production");
    platform.simulators.apnsDirectory().revoke("KEY0000003");

    assertThat(send("revoked", TOKEN))
        .isEqualTo(new CredentialFault(403, "InvalidProviderToken").after("credential paused"));
  }

  @Test
  void a_new_key_is_used_for_the_next_push_without_a_restart() {
    // Both keys are of one team.
    platform.tokensMayChangeAtOnce(true);
    platform.uploadKey("rotating", key("DDDDDDDDDD", "KEY0000004"), "production");
    assertThat(send("rotating", TOKEN)).isInstanceOf(Accepted.class);
    platform.simulators.apnsDirectory().revoke("KEY0000004");
    platform.uploadKey("rotating", key("DDDDDDDDDD", "KEY0000005"), "production");

    Eventually.within(
        PATIENCE, () -> assertThat(send("rotating", TOKEN)).isInstanceOf(Accepted.class));
  }

  /// A worker signs a token of its own only when Redis has not answered in time.
  @Test
  void pushy_682_two_workers_use_one_provider_token() {
    try (ConfigurableApplicationContext other = ProviderPlatform.worker(platform.simulators);
        LogLines silences = new LogLines("io.pushplanet.gateway.apns.RedisTokens")) {
      Provider theirs = ProviderPlatform.provider(other, Channel.APNS);
      int shared = 0;
      for (int i = 1; i <= 5; i++) {
        String app = "shared-" + i;
        platform.uploadKey(app, key("EEEEEEEEE" + i, "KEYSHARE%02d".formatted(i)), "production");
        double before = ProviderPlatform.minted(other, Channel.APNS);
        int silentBefore = silences.said().size();

        DeliveryOutcome first = send(app, TOKEN);
        DeliveryOutcome second = send(theirs, app, TOKEN);

        boolean answered = silences.said().size() == silentBefore;
        if (answered) {
          assertThat(first).isInstanceOf(Accepted.class);
          assertThat(second).isInstanceOf(Accepted.class);
          assertThat(ProviderPlatform.minted(other, Channel.APNS)).isEqualTo(before);
          shared++;
        }
      }
      assertThat(shared).isPositive();
    }
  }

  /// node-apn#518, apnotic#37, uniqush-push#59, #25: records of requests that have ended stay.
  @Test
  void node_apn_518_apnotic_37_uniqush_push_59_uniqush_push_25_no_request_stays_after_its_end()
      throws Exception {
    List<Fate> ends =
        List.of(
            Fate.answer(410, "Unregistered"),
            Fate.answer(503, "Shutdown"),
            Fate.of(Action.HTML),
            Fate.of(Action.REFUSE),
            Fate.of(Action.RESET),
            Fate.of(Action.GOAWAY),
            Fate.of(Action.DROP));
    for (int i = 0; i < ends.size(); i++) {
      platform.simulators.script().add(new ScriptLine(APNS, "", 20 * (i + 1), 1, 100, ends.get(i)));
    }

    assertThat(sendMany(300, "shop")).hasSize(300);

    Eventually.within(
        PATIENCE,
        () -> {
          assertThat(ProviderPlatform.streams(platform.context, Channel.APNS)).isZero();
          assertThat(waitingForAStream()).isZero();
        });
  }

  private static double waitingForAStream() {
    return platform
        .context
        .getBean(MeterRegistry.class)
        .get("pushplanet.provider.pool.streams.waiting")
        .tag("channel", "apns")
        .gauge()
        .value();
  }

  @Test
  void a_client_certificate_sends_too() {
    platform.uploadCertificate("certified");

    assertThat(send("certified", TOKEN)).isInstanceOf(Accepted.class);
  }

  @Test
  void parse_server_push_adapter_65_node_apn_586_an_expired_certificate_stops_no_other_app() {
    Path authority = platform.simulators.authority().pem().getParent();
    Clock thatTime = new MutableClock(CLOCK.instant().minus(Duration.ofDays(3 * 365)));
    byte[] ended = Authority.in(authority, thatTime).pushCertificate(ProviderPlatform.BUNDLE, "pw");
    platform.upload(
        "ended", "apns", "production", "p12", CredentialRows.P12_DETAIL, CredentialRows.p12(ended));

    assertThat(send("ended", TOKEN)).isInstanceOf(TryAgain.class);

    assertThat(send("shop", TOKEN)).isInstanceOf(Accepted.class);
    platform.uploadCertificate("ended");
    Eventually.within(
        PATIENCE, () -> assertThat(send("ended", TOKEN)).isInstanceOf(Accepted.class));
  }

  /// parse-server-push-adapter#118: the server does not start before the certificate is renewed;
  /// raix-push#349: it crashes at each push.
  @Test
  void parse_server_push_adapter_118_raix_push_349_a_worker_starts_with_an_expired_certificate() {
    Path authority = platform.simulators.authority().pem().getParent();
    Clock thatTime = new MutableClock(CLOCK.instant().minus(Duration.ofDays(3 * 365)));
    byte[] ended = Authority.in(authority, thatTime).pushCertificate(ProviderPlatform.BUNDLE, "pw");
    platform.upload(
        "over", "apns", "production", "p12", CredentialRows.P12_DETAIL, CredentialRows.p12(ended));

    try (ConfigurableApplicationContext started = ProviderPlatform.worker(platform.simulators)) {
      Provider theirs = ProviderPlatform.provider(started, Channel.APNS);

      for (int i = 0; i < 3; i++) {
        assertThat(send(theirs, "over", TOKEN)).isInstanceOf(TryAgain.class);
        assertThat(send(theirs, "shop", TOKEN)).isInstanceOf(Accepted.class);
      }
    }
  }

  /// jchambers/pushy#568: each new client signs a token of its own, and so do connections that open
  /// at once.
  @Test
  void pushy_568_the_first_two_hundred_pushes_of_a_new_key_share_one_provider_token()
      throws Exception {
    platform.uploadKey("crowded", key("KKKKKKKKKK", "KEY0000011"), "production");
    double minted = ProviderPlatform.minted(platform.context, Channel.APNS);

    List<DeliveryOutcome> outcomes = sendMany(200, "crowded");

    assertThat(outcomes).hasSize(200).allMatch(Accepted.class::isInstance);
    assertThat(ProviderPlatform.minted(platform.context, Channel.APNS) - minted).isOne();
  }

  @Test
  void the_mock_server_of_pushy_accepts_two_hundred_pushes_too() throws Exception {
    ApnsKey.Issued issued = key("FFFFFFFFFF", "KEY0000007");
    platform.uploadKey("pushy", issued, "production");
    Set<String> tokens =
        IntStream.rangeClosed(1, 200).mapToObj("%064x"::formatted).collect(Collectors.toSet());
    try (PushyServer server =
            PushyServer.start(
                platform.simulators.authority(),
                issued.key(),
                Map.of(ProviderPlatform.BUNDLE, tokens));
        ConfigurableApplicationContext other = workerAt(server)) {
      Provider provider = ProviderPlatform.provider(other, Channel.APNS);

      List<DeliveryOutcome> outcomes = sendMany(200, provider, "pushy");
      DeliveryOutcome ofAnotherApp = send(provider, "pushy", TOKEN);

      assertThat(outcomes).hasSize(200).allMatch(Accepted.class::isInstance);
      assertThat(ofAnotherApp).isEqualTo(new TokenForeign(400, "DeviceTokenNotForTopic"));
      assertThat(platform.alerts("pushy")).containsExactly("tokens_foreign");
    }
  }

  @Test
  void the_mock_server_of_pushy_refuses_a_provider_token_of_another_key() throws Exception {
    platform.uploadKey("stranger", key("GGGGGGGGGG", "KEY0000008"), "production");
    // The id of a known key, with another secret.
    ApnsKey known = key("GGGGGGGGGG", "KEY0000008").key();
    try (PushyServer server =
            PushyServer.start(
                platform.simulators.authority(),
                known,
                Map.of(ProviderPlatform.BUNDLE, Set.of(TOKEN)));
        ConfigurableApplicationContext other = workerAt(server)) {
      assertThat(send(ProviderPlatform.provider(other, Channel.APNS), "stranger", TOKEN))
          .isEqualTo(new CredentialFault(403, "InvalidProviderToken").after("credential paused"));
    }
  }

  private static ConfigurableApplicationContext workerAt(PushyServer server) {
    return ProviderPlatform.worker(
        platform.simulators,
        "--gateway.apns.production-endpoint=" + ProviderPlatform.local(server.port));
  }

  @Test
  void a_message_that_expired_on_its_way_is_not_written() {
    Push push = aPush(CLOCK).from("shop").toApns("d1", "ee".repeat(32)).build();
    Push late =
        Push.accepted(
                push.id(),
                push.app(),
                push.content(),
                push.delivery(),
                push.overrides(),
                CLOCK.instant().minus(push.delivery().ttl()).minusSeconds(1),
                null)
            .to(push.recipients());

    DeliveryOutcome outcome =
        platform.provider(Channel.APNS).send(late, late.recipients().getFirst());

    assertThat(outcome).isEqualTo(new DeliveryOutcome.Expired());
    assertThat(platform.simulators.ledger().entries("ee".repeat(32))).isEmpty();
  }

  @Test
  void a_payload_over_four_kilobytes_is_not_written() {
    Content big = new Content("t", "x".repeat(4_096), Map.of());
    Push push = aPush(CLOCK).from("shop").saying(big).toApns("d1", "ef".repeat(32)).build();

    DeliveryOutcome outcome =
        platform.provider(Channel.APNS).send(push, push.recipients().getFirst());

    assertThat(outcome).isEqualTo(new Rejected(0, "payload_too_large"));
    assertThat(platform.simulators.ledger().entries("ef".repeat(32))).isEmpty();
  }
}
