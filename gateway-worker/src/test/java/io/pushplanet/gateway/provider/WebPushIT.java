package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.Expired;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Fate.Action;
import io.pushplanet.simulators.script.ScriptLine;
import io.pushplanet.simulators.webpush.Subscription;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.ConfigurableApplicationContext;

class WebPushIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Clock CLOCK = Clock.systemUTC();
  private static final Simulated WEBPUSH = Simulated.WEBPUSH;
  private static final String APP = "web-shop";
  private static @TempDir Path state;
  private static ProviderPlatform platform;
  private static String publicKey;

  @BeforeAll
  static void start() {
    platform = ProviderPlatform.start(state);
    publicKey = platform.uploadVapidKey(APP);
    Eventually.within(PATIENCE, () -> assertThat(send(subscribe())).isInstanceOf(Accepted.class));
  }

  @AfterAll
  static void stop() {
    platform.close();
  }

  @AfterEach
  void forgetFaults() {
    platform.simulators.script().clear();
  }

  private static Subscription subscribe() {
    return platform.simulators.webPushDirectory().subscribe(publicKey);
  }

  private static DeliveryOutcome send(Subscription subscription) {
    return sendTo(APP, platform.simulators.webPush().toJson(subscription));
  }

  private static DeliveryOutcome sendTo(String app, String json) {
    return send(aPush(CLOCK).from(app).toWebPush("d1", json).build());
  }

  private static DeliveryOutcome send(Push push) {
    return send(platform.provider(Channel.WEBPUSH), push);
  }

  private static DeliveryOutcome send(Provider provider, Push push) {
    return provider.send(push, push.recipients().getFirst());
  }

  private static Push toBrowser() {
    return aPush(CLOCK)
        .from(APP)
        .toWebPush("d1", platform.simulators.webPush().toJson(subscribe()))
        .build();
  }

  private static List<LedgerEntry> seen(Subscription subscription) {
    return platform.simulators.ledger().entries(subscription.id());
  }

  private static void next(Fate fate) {
    platform.simulators.script().add(ScriptLine.next(WEBPUSH, 1, fate));
  }

  @Test
  void the_browser_decrypts_its_message() {
    Subscription browser = subscribe();
    Push push =
        aPush(CLOCK)
            .from(APP)
            .toWebPush("d1", platform.simulators.webPush().toJson(browser))
            .delivered(
                new DeliveryOptions(
                    Route.AUTO, Duration.ofHours(6), Urgency.HIGH, "order-77", Duration.ZERO))
            .build();

    DeliveryOutcome outcome = send(push);

    assertThat(outcome)
        .isInstanceOfSatisfying(
            Accepted.class,
            accepted ->
                assertThat(accepted.providerId())
                    .startsWith(platform.simulators.webPush().origin() + "/message/"));
    LedgerEntry entry = seen(browser).getLast();
    assertThat(entry.payload().path("id").asString()).isEqualTo(push.id().value());
    assertThat(entry.payload().path("title").asString()).isEqualTo("Shipped");
    assertThat(entry.payload().path("data").path("order").asString()).isEqualTo("77");
    assertThat(entry.headers()).containsEntry("urgency", "high").containsEntry("topic", "order-77");
    assertThat(Long.parseLong(entry.headers().getOrDefault("ttl", "")))
        .isBetween(1L, Duration.ofHours(6).toSeconds());
  }

  @Test
  void a_hundred_messages_at_once_are_accepted_with_one_token() throws Exception {
    String app = "web-crowd";
    String key = platform.uploadVapidKey(app);
    String json =
        platform.simulators.webPush().toJson(platform.simulators.webPushDirectory().subscribe(key));
    double minted = ProviderPlatform.minted(platform.context, Channel.WEBPUSH);

    List<DeliveryOutcome> outcomes = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<DeliveryOutcome>> sent = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        sent.add(threads.submit(() -> sendTo(app, json)));
      }
      for (Future<DeliveryOutcome> one : sent) {
        outcomes.add(one.get());
      }
    }

    assertThat(outcomes).hasSize(100).allMatch(Accepted.class::isInstance);
    assertThat(ProviderPlatform.minted(platform.context, Channel.WEBPUSH) - minted).isEqualTo(1);
  }

  @Test
  void a_subscription_that_is_gone_or_unknown_is_gone_since_it_was_asked() {
    Subscription gone = subscribe();
    platform.simulators.webPushDirectory().mark(gone.id(), true);
    Subscription unknown = new Subscription("never", "", gone.p256dh(), gone.auth(), "");
    Instant before = CLOCK.instant();

    for (DeliveryOutcome outcome : List.of(send(gone), send(unknown))) {
      assertThat(outcome)
          .isInstanceOfSatisfying(
              TokenGone.class, it -> assertThat(it.since()).isBetween(before, CLOCK.instant()));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403})
  void a_key_that_is_refused_is_a_fault_of_the_credential(int status) {
    next(Fate.answer(status, ""));

    assertThat(send(subscribe())).isEqualTo(inDoubt(status));
  }

  @Test
  void a_subscription_made_with_another_key_is_a_fault_of_the_credential() {
    Subscription others =
        platform.simulators.webPushDirectory().subscribe(platform.uploadVapidKey("web-other"));

    assertThat(send(others)).isEqualTo(inDoubt(403));
  }

  private static CredentialFault inDoubt(int status) {
    return new CredentialFault(
        status, "http_" + status, "credential in doubt", null, Evidence.DOUBTED);
  }

  @Test
  void a_busy_push_service_waits_as_long_as_it_says() {
    next(Fate.answer(429, "").retryAfter(Duration.ofSeconds(42)));
    assertThat(send(subscribe()))
        .isEqualTo(new TryAgain(429, "http_429", Duration.ofSeconds(42), false));

    next(Fate.answer(503, "").retryAfter(Duration.ofSeconds(7)));
    assertThat(send(subscribe()))
        .isEqualTo(new TryAgain(503, "http_503", Duration.ofSeconds(7), true));

    next(Fate.of(Action.HTML));
    assertThat(send(subscribe())).isEqualTo(new TryAgain(502, "http_502", null, true));
  }

  @Test
  void no_answer_holds_a_message_up_for_longer_than_a_quarter_of_an_hour() {
    next(Fate.answer(429, "").retryAfter(Duration.ofDays(1)));
    assertThat(send(subscribe()))
        .isEqualTo(new TryAgain(429, "http_429", Duration.ofMinutes(15), false));

    next(Fate.answer(503, "").retryAfter(Duration.ofDays(1)));
    assertThat(send(subscribe()))
        .isEqualTo(new TryAgain(503, "http_503", Duration.ofMinutes(15), true));
  }

  @Test
  void a_message_that_is_too_large_is_rejected() {
    next(Fate.answer(413, ""));
    assertThat(send(subscribe())).isEqualTo(new Rejected(413, "http_413"));

    Subscription browser = subscribe();
    Push large =
        aPush(CLOCK)
            .from(APP)
            .saying(new Content("t", "x".repeat(4_000), Map.of()))
            .toWebPush("d1", platform.simulators.webPush().toJson(browser))
            .build();
    assertThat(send(large)).isEqualTo(new Rejected(0, "payload_too_large"));
    assertThat(seen(browser)).isEmpty();
  }

  @Test
  void a_redirect_is_not_followed() {
    Subscription browser = subscribe();
    next(Fate.answer(307, ""));

    assertThat(send(browser)).isEqualTo(new Rejected(307, "http_307"));
    assertThat(seen(browser)).hasSize(1);
  }

  @Test
  void an_endpoint_in_our_own_network_is_never_asked() {
    Subscription browser = subscribe();
    int port = platform.simulators.webPush().port();

    for (String host : List.of("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0")) {
      String json = platform.simulators.webPush().toJson(browser).replace("localhost:", host + ":");
      assertThat(json).contains(host + ":" + port);
      assertThat(sendTo(APP, json)).as(host).isEqualTo(new Rejected(0, "private_address"));
    }
    assertThat(seen(browser)).isEmpty();
  }

  @Test
  void an_expired_message_is_not_written() {
    Subscription browser = subscribe();
    MutableClock past = new MutableClock(CLOCK.instant().minus(Duration.ofHours(2)));
    Push expired =
        aPush(past)
            .from(APP)
            .toWebPush("d1", platform.simulators.webPush().toJson(browser))
            .delivered(
                new DeliveryOptions(
                    Route.AUTO, Duration.ofHours(1), Urgency.HIGH, null, Duration.ZERO))
            .build();

    assertThat(send(expired)).isEqualTo(new Expired());
    assertThat(seen(browser)).isEmpty();
    assertThat(send(browser)).isInstanceOf(Accepted.class);
  }

  @Test
  void a_line_of_our_own_before_a_push_service_does_not_make_it_rest() throws Exception {
    next(Fate.of(Action.SILENCE));
    Push push = toBrowser();
    try (ConfigurableApplicationContext other =
            ProviderPlatform.worker(
                platform.simulators,
                "--gateway.webpush.connections-per-host=1",
                "--gateway.webpush.connect-timeout=1s",
                "--gateway.webpush.request-timeout=8s");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Provider provider = ProviderPlatform.provider(other, Channel.WEBPUSH);
      Future<DeliveryOutcome> slow = threads.submit(() -> send(provider, push));
      Eventually.within(
          PATIENCE, () -> assertThat(ProviderPlatform.streams(other, Channel.WEBPUSH)).isOne());

      List<Future<DeliveryOutcome>> behind = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        behind.add(threads.submit(() -> send(provider, push)));
      }
      for (Future<DeliveryOutcome> one : behind) {
        assertThat(one.get())
            .isInstanceOfSatisfying(
                PutOff.class, putOff -> assertThat(putOff.reason()).isEqualTo("busy"));
      }

      assertThat(slow.get()).isInstanceOf(TryAgain.class);
      // A request that was given up keeps its connection for another second.
      Eventually.within(
          PATIENCE, () -> assertThat(send(provider, push)).isInstanceOf(Accepted.class));
    }
  }

  @Test
  void a_silent_push_service_ends_within_the_deadline() {
    next(Fate.of(Action.SILENCE));
    try (ConfigurableApplicationContext impatient =
        ProviderPlatform.worker(platform.simulators, "--gateway.webpush.request-timeout=2s")) {
      Provider provider = ProviderPlatform.provider(impatient, Channel.WEBPUSH);

      assertThat(send(provider, toBrowser())).isEqualTo(new TryAgain(0, "timeout", null, true));
      Eventually.within(
          PATIENCE, () -> assertThat(send(provider, toBrowser())).isInstanceOf(Accepted.class));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"RESET", "DROP"})
  void an_answer_that_is_cut_off_is_ambiguous(Action action) {
    next(Fate.of(action));

    assertThat(send(subscribe()))
        .isInstanceOfSatisfying(TryAgain.class, again -> assertThat(again.ambiguous()).isTrue());
    assertThat(send(subscribe())).isInstanceOf(Accepted.class);
  }

  @Test
  void a_refused_stream_was_not_sent() {
    next(Fate.of(Action.REFUSE));

    assertThat(send(subscribe())).isEqualTo(new TryAgain(0, "refused_stream", null, false));
  }

  @Test
  void a_subscription_that_cannot_be_read_is_rejected() {
    assertThat(sendTo(APP, "{}")).isEqualTo(new Rejected(0, "malformed_subscription"));
  }

  @Test
  void an_app_without_a_key_is_told_so() {
    assertThat(sendTo("nobody", platform.simulators.webPush().toJson(subscribe())))
        .isEqualTo(new Rejected(0, "no_credential"));
  }
}
