package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenForeign;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import io.pushplanet.simulators.fcm.FcmAccount;
import io.pushplanet.simulators.fcm.FcmToken;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Fate.Action;
import io.pushplanet.simulators.script.ScriptLine;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

class FcmIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Clock CLOCK = Clock.systemUTC();
  private static final Simulated FCM = Simulated.FCM;
  private static final Simulated OAUTH = Simulated.OAUTH;
  private static @TempDir Path state;
  private static ProviderPlatform platform;

  @BeforeAll
  static void start() {
    platform = ProviderPlatform.start(state);
    upload("fcm-shop", "shop-1");
    Eventually.within(
        PATIENCE, () -> assertThat(send("fcm-shop", "t0")).isInstanceOf(Accepted.class));
  }

  @AfterAll
  static void stop() {
    platform.close();
  }

  @AfterEach
  void forgetFaults() {
    platform.simulators.script().clear();
  }

  private static void upload(String app, String project) {
    platform.uploadAccount(app, FcmAccount.issue(project, platform.simulators.fcm().tokenUri()));
  }

  private static DeliveryOutcome send(String app, String token) {
    return send(platform.provider(Channel.FCM), app, token);
  }

  private static DeliveryOutcome send(Provider provider, String app, String token) {
    Push push = aPush(CLOCK).from(app).toFcm("d1", token).build();
    try {
      return provider.turn(push).orElseGet(() -> provider.send(push, push.recipients().getFirst()));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Optional<DeliveryOutcome> turn(Provider provider, Urgency urgency, int audience)
      throws InterruptedException {
    Push push =
        aPush(CLOCK)
            .from("fcm-shop")
            .delivered(
                new DeliveryOptions(
                    Route.VENDOR, Duration.ofHours(6), urgency, null, Duration.ofSeconds(5)))
            .toFcm("d1", "t1")
            .build();
    return provider.turn(push.ofAudience(audience));
  }

  @Test
  void bulk_is_put_off_about_a_quarter_of_an_hour_and_nothing_else_is() throws Exception {
    // A margin that leaves only two thousandths of a second of each quarter of an hour.
    try (ConfigurableApplicationContext worker =
        ProviderPlatform.worker(
            platform.simulators, "--gateway.fcm.quarter-hour-margin=449999ms")) {
      Provider provider = ProviderPlatform.provider(worker, Channel.FCM);

      assertThat(turn(provider, Urgency.NORMAL, 10_000))
          .containsInstanceOf(PutOff.class)
          .get()
          .returns("quarter_hour", DeliveryOutcome::reason);
      assertThat(turn(provider, Urgency.NORMAL, 9_999)).isEmpty();
      assertThat(turn(provider, Urgency.HIGH, 50_000)).isEmpty();
      assertThat(
              worker
                  .getBean(MeterRegistry.class)
                  .get("pushplanet.fcm.quarter.hour")
                  .counter()
                  .count())
          .isOne();
    }
  }

  @Test
  void two_hundred_messages_at_once_are_accepted_with_one_access_token() throws Exception {
    upload("fcm-crowd", "crowd-1");
    double grants = ProviderPlatform.minted(platform.context, Channel.FCM);

    List<DeliveryOutcome> outcomes = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<DeliveryOutcome>> sent = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        String token = "crowd" + i;
        sent.add(threads.submit(() -> send("fcm-crowd", token)));
      }
      for (Future<DeliveryOutcome> one : sent) {
        outcomes.add(one.get());
      }
    }

    assertThat(outcomes).hasSize(200).allMatch(Accepted.class::isInstance);
    assertThat(ProviderPlatform.minted(platform.context, Channel.FCM) - grants).isEqualTo(1);
  }

  /// FCM takes an access token only for its own project.
  @Test
  void gorush_365_gorush_566_gorush_588_projects_send_side_by_side() throws Exception {
    List<Future<DeliveryOutcome>> sent = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int project = 0; project < 5; project++) {
        String app = "fcm-tenant-" + project;
        upload(app, "tenant-" + project);
        platform
            .simulators
            .fcmDirectory()
            .register("of-" + app, new FcmToken("tenant-" + project, false));
      }
      for (int i = 0; i < 100; i++) {
        String app = "fcm-tenant-" + i % 5;
        sent.add(threads.submit(() -> send(app, "of-" + app)));
      }
      for (Future<DeliveryOutcome> one : sent) {
        assertThat(one.get()).isInstanceOf(Accepted.class);
      }
    }
  }

  /// firebase/firebase-admin-java#941, #834, #849, #890: one request after the other instead of a
  /// batch; firebase-admin-node#2488: 500 take 15 seconds without multiplexing;
  /// eladnava/fcm-v1-http2#8: one connection has only 100 streams; firebase-admin-java#994: a
  /// thread each.
  @Test
  void firebase_admin_java_941_firebase_admin_node_2488_fcm_v1_http2_8_500_leave_nearly_at_once()
      throws Exception {
    upload("fcm-many", "many-1");
    assertThat(send("fcm-many", "first")).isInstanceOf(Accepted.class);
    int threadsBefore = platformThreads();
    double connectionsBefore = connections();
    platform
        .simulators
        .script()
        .add(ScriptLine.always(FCM, Fate.of(Action.ANSWER).after(Duration.ofSeconds(5))));

    List<Future<DeliveryOutcome>> sent = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 500; i++) {
        String token = "one-of-many" + i;
        sent.add(threads.submit(() -> send("fcm-many", token)));
      }

      // The first hundred leave at once. By the time of their answers, the other connections that
      // are needed have proved themselves.
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(ProviderPlatform.streams(platform.context, Channel.FCM))
                  .isGreaterThan(350));

      // FCM has 100 streams on each.
      assertThat(connections() - connectionsBefore).isBetween(4.0, 8.0);
      assertThat(platformThreads() - threadsBefore).isLessThan(50);
      for (Future<DeliveryOutcome> one : sent) {
        assertThat(one.get()).isInstanceOf(Accepted.class);
      }
    }
  }

  private static int platformThreads() {
    return Thread.getAllStackTraces().size();
  }

  private static double connections() {
    return platform
        .context
        .getBean(MeterRegistry.class)
        .get("pushplanet.provider.pool.connections")
        .tag("channel", "fcm")
        .gauge()
        .value();
  }

  /// firebase/firebase-admin-node#346: a library's own repeat, at once and unseen, is the second
  /// copy.
  @Test
  void firebase_admin_node_346_a_503_of_what_was_delivered_is_repeated_by_nobody_unseen() {
    platform
        .simulators
        .script()
        .add(ScriptLine.next(FCM, 1, Fate.answer(503, "UNAVAILABLE").butDelivered()));

    assertThat(send("fcm-shop", "delivered-once"))
        .isInstanceOfSatisfying(
            TryAgain.class,
            again -> {
              assertThat(again.status()).isEqualTo(503);
              assertThat(again.ambiguous()).isTrue();
            });

    assertThat(platform.simulators.ledger().entries("delivered-once")).hasSize(1);
  }

  @Test
  void the_message_stands_in_the_ledger_as_it_was_meant() {
    Push push = aPush(CLOCK).from("fcm-shop").toFcm("d1", "looked-at").build();

    platform.provider(Channel.FCM).send(push, push.recipients().getFirst());

    var message = platform.simulators.ledger().entries("looked-at").getLast().payload();
    assertThat(message.path("notification").path("title").asString()).isEqualTo("Shipped");
    assertThat(message.path("data").path("order").asString()).isEqualTo("77");
    assertThat(message.path("data").path("id").asString()).isEqualTo(push.id().value());
    assertThat(message.path("android").path("priority").asString()).isEqualTo("HIGH");
  }

  @Test
  void parse_server_9085_appwrite_8159_an_unregistered_token_is_gone() {
    platform.simulators.fcmDirectory().register("dead", new FcmToken("", true));

    assertThat(send("fcm-shop", "dead"))
        .isInstanceOfSatisfying(
            TokenGone.class, gone -> assertThat(gone.reason()).isEqualTo("UNREGISTERED"));
  }

  @Test
  void a_token_of_another_project_is_foreign() {
    platform.simulators.fcmDirectory().register("foreign", new FcmToken("another", false));

    assertThat(send("fcm-shop", "foreign")).isEqualTo(new TokenForeign(403, "SENDER_ID_MISMATCH"));
    assertThat(platform.alerts("fcm-shop")).contains("tokens_foreign");
  }

  @Test
  void a_malformed_token_is_gone_because_fcm_names_it() {
    assertThat(send("fcm-shop", "not a token")).isInstanceOf(TokenGone.class);
  }

  @Test
  void an_exhausted_quota_waits_as_long_as_fcm_says() {
    // The whole project rests, so this test has a project of its own.
    upload("fcm-quota", "quota-1");
    platform
        .simulators
        .script()
        .add(
            ScriptLine.next(
                FCM, 1, Fate.answer(429, "QUOTA_EXCEEDED").retryAfter(Duration.ofSeconds(42))));

    assertThat(send("fcm-quota", "t1"))
        .isEqualTo(
            new TryAgain(429, "QUOTA_EXCEEDED", Duration.ofSeconds(42), false, "project slowed"));
    assertThat(send("fcm-quota", "t2"))
        .isInstanceOfSatisfying(
            PutOff.class,
            rest -> {
              assertThat(rest.reason()).isEqualTo("project_quota_rest");
              assertThat(rest.after()).isLessThanOrEqualTo(Duration.ofSeconds(42));
            });
    assertThat(send("fcm-shop", "t1")).isInstanceOf(Accepted.class);
  }

  @Test
  void a_quota_of_one_device_slows_only_that_device() {
    upload("fcm-device-quota", "device-quota-1");
    platform.simulators.fcm().quotas().set(600_000, 1, 100);
    try {
      assertThat(send("fcm-device-quota", "much")).isInstanceOf(Accepted.class);
      assertThat(send("fcm-device-quota", "much"))
          .isInstanceOfSatisfying(
              TryAgain.class,
              again -> {
                assertThat(again.reason()).isEqualTo("QUOTA_EXCEEDED");
                assertThat(again.done()).isEqualTo("device rests");
              });

      // Later messages wait without a request, which would count again.
      assertThat(send("fcm-device-quota", "much"))
          .isInstanceOfSatisfying(
              PutOff.class,
              putOff -> {
                assertThat(putOff.reason()).isEqualTo("device_quota_rest");
                assertThat(putOff.after()).isPositive();
              });
      assertThat(platform.simulators.ledger().entries("much")).hasSize(2);
      assertThat(send("fcm-device-quota", "other")).isInstanceOf(Accepted.class);
    } finally {
      platform.simulators.fcm().quotas().set(600_000, Integer.MAX_VALUE, Integer.MAX_VALUE);
    }
  }

  @Test
  void an_apns_key_that_firebase_has_wrong_rests_the_iphones_alone_and_is_told_once() {
    upload("fcm-mixed", "mixed-1");
    for (int i = 0; i < 10; i++) {
      platform
          .simulators
          .script()
          .add(ScriptLine.token(FCM, "iphone" + i, Fate.answer(401, "THIRD_PARTY_AUTH_ERROR")));
    }

    try (ConfigurableApplicationContext another = ProviderPlatform.worker(platform.simulators)) {
      for (Provider worker :
          List.of(
              platform.provider(Channel.FCM), ProviderPlatform.provider(another, Channel.FCM))) {
        List<DeliveryOutcome> outcomes = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
          assertThat(sendTo(worker, "fcm-mixed", "android" + i, Platform.ANDROID))
              .isInstanceOf(Accepted.class);
          outcomes.add(sendTo(worker, "fcm-mixed", "iphone" + i, Platform.IOS));
        }

        assertThat(outcomes.subList(0, 4))
            .containsOnly(
                new CredentialFault(
                    401,
                    "THIRD_PARTY_AUTH_ERROR",
                    null,
                    "Request failed: UNAUTHENTICATED",
                    Evidence.NONE));
        assertThat(outcomes.get(4))
            .isEqualTo(
                new CredentialFault(
                    401,
                    "THIRD_PARTY_AUTH_ERROR",
                    "platform rests",
                    "Request failed: UNAUTHENTICATED",
                    Evidence.NONE));
        assertThat(outcomes.subList(5, 10))
            .containsOnly(new CredentialFault(0, "third_party_auth_rest"));
      }
    }
    JdbcTemplate sql = new JdbcTemplate(platform.context.getBean(DataSource.class));
    assertThat(platform.alerts("fcm-mixed")).containsExactly("credential_in_firebase");
    assertThat(
            sql.queryForList(
                "SELECT id FROM credentials WHERE app_id = 'fcm-mixed' AND paused_at IS NOT NULL",
                Long.class))
        .isEmpty();
  }

  /// Without a known platform, no platform rests.
  @Test
  void a_key_that_firebase_has_wrong_is_logged_once_however_many_messages_meet_it() {
    upload("fcm-behind", "behind-1");
    platform
        .simulators
        .script()
        .add(ScriptLine.token(FCM, "somebody", Fate.answer(401, "THIRD_PARTY_AUTH_ERROR")));

    try (LogLines log = new LogLines(platform.provider(Channel.FCM).getClass())) {
      for (int i = 0; i < 10; i++) {
        assertThat(send("fcm-behind", "somebody"))
            .isEqualTo(
                new CredentialFault(
                    401,
                    "THIRD_PARTY_AUTH_ERROR",
                    null,
                    "Request failed: UNAUTHENTICATED",
                    Evidence.NONE));
      }

      assertThat(log.said())
          .singleElement()
          .asString()
          .contains("event=fcm_credential_refused appId=fcm-behind");
    }
  }

  private static DeliveryOutcome sendTo(
      Provider provider, String app, String token, Platform platform) {
    Push push = aPush(CLOCK).from(app).toFcm("d1", token).build();
    Recipient known = push.recipients().getFirst();
    return provider.send(
        push, new Recipient(known.device(), false, null, known.fcm(), null, null, platform));
  }

  @Test
  void a_page_of_html_defers() {
    platform.simulators.script().add(ScriptLine.next(FCM, 1, Fate.of(Action.HTML)));

    assertThat(send("fcm-shop", "t1")).isEqualTo(new TryAgain(502, "http_502", null, true));
  }

  @Test
  void a_page_of_html_with_200_is_no_delivery() {
    Fate html = new Fate(Action.HTML, 200, "", Duration.ZERO, Duration.ZERO, 0, false);
    platform.simulators.script().add(ScriptLine.next(FCM, 1, html));

    assertThat(send("fcm-shop", "t1")).isEqualTo(new TryAgain(200, "no_message_name", null, true));
  }

  @Test
  void an_access_token_that_is_refused_is_renewed_once() {
    platform.simulators.script().add(ScriptLine.next(FCM, 1, Fate.answer(401, "UNAUTHENTICATED")));

    assertThat(send("fcm-shop", "t1"))
        .isInstanceOfSatisfying(
            DeliveryOutcome.Remedied.class,
            remedied -> {
              assertThat(remedied.reason()).isEqualTo("UNAUTHENTICATED");
              assertThat(remedied.then()).isInstanceOf(Accepted.class);
            });
  }

  @Test
  void a_service_account_that_google_does_not_know_is_a_fault() {
    FcmAccount.Issued issued = FcmAccount.issue("unknown-1", platform.simulators.fcm().tokenUri());
    platform.upload(
        "fcm-unknown",
        "fcm",
        "production",
        "service_account",
        "{}",
        issued.json().getBytes(java.nio.charset.StandardCharsets.UTF_8));

    assertThat(send("fcm-unknown", "t1"))
        .isEqualTo(new CredentialFault(400, "invalid_grant").after("credential paused"));
  }

  @Test
  void a_token_endpoint_in_trouble_defers_and_blames_no_credential() {
    upload("fcm-later", "later-1");
    platform.simulators.script().add(ScriptLine.next(OAUTH, 1, Fate.answer(503, "")));

    assertThat(send("fcm-later", "t1"))
        .isInstanceOfSatisfying(TryAgain.class, again -> assertThat(again.ambiguous()).isFalse());
  }

  @Test
  void zulip_13518_a_silent_peer_ends_within_the_deadline() {
    platform.simulators.script().add(ScriptLine.next(FCM, 1, Fate.of(Action.SILENCE)));

    try (ConfigurableApplicationContext impatient =
        ProviderPlatform.worker(
            platform.simulators, "--gateway.fcm.connection.request-timeout=2s")) {
      Provider provider = ProviderPlatform.provider(impatient, Channel.FCM);

      assertThat(send(provider, "fcm-shop", "t1"))
          .isEqualTo(new TryAgain(0, "timeout", null, true));
      Eventually.within(
          PATIENCE,
          () -> assertThat(send(provider, "fcm-shop", "t1")).isInstanceOf(Accepted.class));
    }
  }

  @Test
  void rpush_709_an_unreadable_account_stops_no_other_app_and_is_read_again_once_mended() {
    platform.upload(
        "fcm-broken",
        "fcm",
        "production",
        "service_account",
        "{}",
        "no account".getBytes(java.nio.charset.StandardCharsets.UTF_8));

    assertThat(send("fcm-broken", "t1")).isEqualTo(new CredentialFault(0, "credential_unreadable"));

    assertThat(send("fcm-shop", "t1")).isInstanceOf(Accepted.class);
    upload("fcm-broken", "mended-1");
    Eventually.within(
        PATIENCE, () -> assertThat(send("fcm-broken", "t1")).isInstanceOf(Accepted.class));
  }

  @Test
  void parse_server_3562_a_device_without_a_token_has_its_end_too() {
    Push push = aPush(CLOCK).from("fcm-shop").toApns("d1", "ab").build();

    assertThat(platform.provider(Channel.FCM).send(push, push.recipients().getFirst()))
        .isEqualTo(new DeliveryOutcome.Rejected(0, "no_token"));
  }

  @Test
  void an_app_without_a_service_account_is_told_so() {
    assertThat(send("nobody", "t1")).isEqualTo(new Rejected(0, "no_credential"));
  }
}
