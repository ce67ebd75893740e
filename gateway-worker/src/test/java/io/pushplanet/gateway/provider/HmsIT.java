package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import io.pushplanet.simulators.hms.HmsClient;
import io.pushplanet.simulators.hms.HmsToken;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Fate.Action;
import io.pushplanet.simulators.script.ScriptLine;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;

class HmsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Clock CLOCK = Clock.systemUTC();
  private static final Simulated HMS = Simulated.HMS;
  private static final Simulated OAUTH = Simulated.HMS_OAUTH;
  private static @TempDir Path state;
  private static ProviderPlatform platform;

  @BeforeAll
  static void start() {
    platform = ProviderPlatform.start(state);
    upload("hms-shop", "1001");
    Eventually.within(
        PATIENCE, () -> assertThat(send("hms-shop", "t0")).isInstanceOf(Accepted.class));
  }

  @AfterAll
  static void stop() {
    platform.close();
  }

  @AfterEach
  void forgetFaults() {
    platform.simulators.script().clear();
  }

  private static void upload(String app, String clientId) {
    platform.uploadClient(app, platform.simulators.hmsDirectory().issue(clientId, true));
  }

  private static void script(ScriptLine line) {
    platform.simulators.script().add(line);
  }

  private static void next(Fate fate) {
    script(ScriptLine.next(HMS, 1, fate));
  }

  private static Push push(String app, List<String> tokens) {
    PushBuilder push = aPush(CLOCK).from(app);
    for (int i = 0; i < tokens.size(); i++) {
      push.toHms("d" + i, tokens.get(i));
    }
    return push.build();
  }

  private static DeliveryOutcome send(String app, String token) {
    return send(platform.provider(Channel.HMS), app, List.of(token)).getFirst();
  }

  private static List<DeliveryOutcome> send(Provider provider, String app, List<String> tokens) {
    Push push = push(app, tokens);
    try {
      return provider
          .turn(push)
          .map(notNow -> List.of(notNow))
          .orElseGet(() -> provider.send(push, push.recipients()));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> tokens(String prefix, int count) {
    return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
  }

  private static LedgerEntry lastOf(String token) {
    return platform.simulators.ledger().entries(token).getLast();
  }

  @Test
  void a_line_of_our_own_before_push_kit_is_no_try() throws Exception {
    next(Fate.of(Action.SILENCE));
    try (ConfigurableApplicationContext other =
            ProviderPlatform.worker(
                platform.simulators,
                "--gateway.hms.connections=1",
                "--gateway.hms.connect-timeout=1s",
                "--gateway.hms.request-timeout=8s");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Provider provider = ProviderPlatform.provider(other, Channel.HMS);
      Future<List<DeliveryOutcome>> slow =
          threads.submit(() -> send(provider, "hms-shop", List.of("slow")));
      Eventually.within(
          PATIENCE, () -> assertThat(ProviderPlatform.streams(other, Channel.HMS)).isOne());

      assertThat(send(provider, "hms-shop", tokens("behind-", 3)))
          .hasSize(3)
          .containsOnly(new PutOff(0, "busy", Duration.ofSeconds(5)));

      assertThat(slow.get().getFirst()).isInstanceOf(TryAgain.class);
      assertThat(send(provider, "hms-shop", List.of("next")).getFirst())
          .isInstanceOf(Accepted.class);
    }
  }

  @Test
  void a_thousand_devices_get_one_request_and_messages_at_once_one_access_token() throws Exception {
    upload("hms-crowd", "1002");
    double grants = ProviderPlatform.minted(platform.context, Channel.HMS);

    List<String> thousand = tokens("crowd-", 1_000);
    List<Future<List<DeliveryOutcome>>> sent = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      sent.add(threads.submit(() -> send(platform.provider(Channel.HMS), "hms-crowd", thousand)));
      for (int i = 0; i < 100; i++) {
        List<String> one = List.of("single-" + i);
        sent.add(threads.submit(() -> send(platform.provider(Channel.HMS), "hms-crowd", one)));
      }
    }

    for (Future<List<DeliveryOutcome>> outcomes : sent) {
      assertThat(outcomes.get()).allMatch(Accepted.class::isInstance);
    }
    assertThat(sent.getFirst().get()).hasSize(1_000);
    // The request's id is the same for all of its tokens.
    assertThat(lastOf("crowd-0").id()).isEqualTo(lastOf("crowd-999").id());
    assertThat(ProviderPlatform.minted(platform.context, Channel.HMS) - grants).isEqualTo(1);
  }

  @Test
  void the_message_stands_in_the_ledger_as_it_was_meant() {
    Push push = push("hms-shop", List.of("looked-at"));

    DeliveryOutcome outcome =
        platform.provider(Channel.HMS).send(push, push.recipients()).getFirst();

    JsonNode message = lastOf("looked-at").payload();
    assertThat(message.at("/notification/title").asString()).isEqualTo("Shipped");
    assertThat(message.at("/android/urgency").asString()).isEqualTo("HIGH");
    assertThat(message.at("/android/bi_tag").asString()).isEqualTo(push.id().value());
    assertThat(outcome).isEqualTo(new Accepted(200, "", lastOf("looked-at").id()));
  }

  @Test
  void rpush_331_of_neighbours_only_the_illegal_ones_are_gone() {
    platform.simulators.hmsDirectory().register("dead", new HmsToken("", true));
    platform.simulators.hmsDirectory().register("foreign", new HmsToken("777", false));

    List<DeliveryOutcome> outcomes =
        send(
            platform.provider(Channel.HMS),
            "hms-shop",
            List.of("fine-1", "dead", "fine-2", "foreign"));

    assertThat(outcomes.get(0)).isInstanceOf(Accepted.class);
    assertThat(outcomes.get(1))
        .isInstanceOfSatisfying(
            TokenGone.class, gone -> assertThat(gone.reason()).isEqualTo("80100000"));
    assertThat(outcomes.get(2)).isInstanceOf(Accepted.class);
    assertThat(outcomes.get(3)).isInstanceOf(TokenGone.class);
    assertThat(lastOf("fine-2").delivered()).isTrue();
    assertThat(send("hms-shop", "dead"))
        .isInstanceOfSatisfying(
            TokenGone.class, gone -> assertThat(gone.reason()).isEqualTo("80300007"));
  }

  @Test
  void a_fault_of_one_token_is_found_with_fewer_tokens_and_finally_alone() {
    Provider provider = platform.provider(Channel.HMS);
    script(ScriptLine.token(HMS, "poison", Fate.answer(400, "80100001")));

    List<DeliveryOutcome> together =
        send(provider, "hms-shop", List.of("good-1", "poison", "good-2"));

    assertThat(together)
        .hasSize(3)
        .allMatch(new TryAgain(400, "80100001", null, false, "fewer together")::equals);
    Push first = push("hms-shop", List.of("t"));
    assertThat(provider.mostTogether(first)).isEqualTo(1_000);
    assertThat(provider.mostTogether(first.retried())).isEqualTo(32);
    assertThat(provider.mostTogether(first.retried().retried())).isEqualTo(1);
    assertThat(provider.mostTogether(first.retried().retried().retried())).isEqualTo(1);
    assertThat(send("hms-shop", "good-1")).isInstanceOf(Accepted.class);
    assertThat(send("hms-shop", "poison")).isEqualTo(new Rejected(400, "80100001", "scripted"));
  }

  @Test
  void a_part_that_is_not_named_is_ambiguous_for_all() {
    // A scripted answer with a status of success is ignored, so this one has another status.
    next(Fate.answer(400, "80100000"));

    assertThat(send(platform.provider(Channel.HMS), "hms-shop", List.of("a", "b")))
        .allMatch(new TryAgain(400, "80100000", null, true, "fewer together")::equals);
  }

  @Test
  void an_access_token_that_ends_under_way_is_renewed_once() {
    next(Fate.answer(401, "80200003"));

    assertThat(remedied(send("hms-shop", "t1"))).isInstanceOf(Accepted.class);

    script(ScriptLine.next(HMS, 2, Fate.answer(401, "80200001")));
    assertThat(remedied(send("hms-shop", "t1")))
        .isEqualTo(
            new CredentialFault(
                401, "80200001", "credential paused", "scripted", Evidence.REFUSED));
    upload("hms-shop", "1001");
    Eventually.within(
        PATIENCE, () -> assertThat(send("hms-shop", "t1")).isInstanceOf(Accepted.class));
  }

  private static DeliveryOutcome remedied(DeliveryOutcome outcome) {
    return ((DeliveryOutcome.Remedied) outcome).then();
  }

  @Test
  void an_app_without_the_right_sends_without_urgency() {
    HmsClient client = platform.simulators.hmsDirectory().issue("1003", false);
    platform.uploadClient("hms-plain", client);

    assertThat(remedied(send("hms-plain", "plain"))).isInstanceOf(Accepted.class);
    assertThat(send("hms-plain", "plain")).isInstanceOf(Accepted.class);

    assertThat(platform.simulators.ledger().entries("plain"))
        .extracting(LedgerEntry::reason)
        .containsExactly("80300011", "", "");
  }

  @Test
  void flow_control_lets_the_app_rest_and_no_other() {
    upload("hms-flow", "1004");
    next(Fate.answer(503, "").retryAfter(Duration.ofSeconds(42)));

    assertThat(send("hms-flow", "t1"))
        .isEqualTo(new PutOff(503, "http_503", Duration.ofSeconds(42), "app rests"));
    assertThat(send("hms-flow", "t1"))
        .isInstanceOfSatisfying(
            PutOff.class,
            rest -> {
              assertThat(rest.reason()).isEqualTo("flow_control_rest");
              assertThat(rest.after()).isLessThanOrEqualTo(Duration.ofSeconds(42));
            });
    assertThat(send("hms-shop", "t1")).isInstanceOf(Accepted.class);
  }

  @Test
  void html_and_nothing_at_all_are_neither_accepted_nor_the_tokens_fault() {
    next(Fate.of(Action.HTML));
    assertThat(send("hms-shop", "t1"))
        .isInstanceOfSatisfying(
            TryAgain.class,
            again -> {
              assertThat(again.reason()).isEqualTo("http_502");
              assertThat(again.ambiguous()).isTrue();
            });
    next(Fate.answer(500, ""));
    assertThat(send("hms-shop", "t1")).isInstanceOf(TryAgain.class);
    next(Fate.of(Action.DROP));
    assertThat(send("hms-shop", "t1")).isEqualTo(new TryAgain(0, "no_answer", null, true));
  }

  @Test
  void a_proxys_page_is_waited_for_at_most_a_quarter_of_an_hour() {
    next(Fate.answer(502, "").retryAfter(Duration.ofDays(1)));

    assertThat(send("hms-shop", "t1"))
        .isEqualTo(new TryAgain(502, "http_502", Duration.ofMinutes(15), true));
  }

  @Test
  void a_body_that_does_not_end_in_time_is_ambiguous() {
    try (ConfigurableApplicationContext impatient =
        ProviderPlatform.worker(platform.simulators, "--gateway.hms.request-timeout=5s")) {
      Provider provider = ProviderPlatform.provider(impatient, Channel.HMS);
      // With its connection and access token ready, an answer is not late.
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(send(provider, "hms-shop", List.of("t1")).getFirst())
                  .isInstanceOf(Accepted.class));
      next(new Fate(Action.TRICKLE, 0, "", Duration.ZERO, Duration.ofMinutes(5), 0, false));
      next(Fate.of(Action.SILENCE));

      assertThat(send(provider, "hms-shop", List.of("t1")).getFirst())
          .isInstanceOfSatisfying(
              TryAgain.class,
              again -> {
                assertThat(again.status()).isEqualTo(200);
                assertThat(again.ambiguous()).isTrue();
              });
      assertThat(send(provider, "hms-shop", List.of("t1")).getFirst())
          .isEqualTo(new TryAgain(0, "timeout", null, true));
    }
  }

  @Test
  void a_client_that_huawei_does_not_know_is_a_fault_and_its_server_in_trouble_none() {
    platform.uploadClient("hms-unknown", new HmsClient("4711", "secret", true));
    assertThat(send("hms-unknown", "t1"))
        .isEqualTo(new CredentialFault(400, "1101/20003").after("credential paused"));

    upload("hms-later", "1005");
    script(ScriptLine.next(OAUTH, 1, Fate.answer(503, "")));
    assertThat(send("hms-later", "t1"))
        .isEqualTo(new PutOff(0, "token_endpoint_503", Duration.ofSeconds(5)));
    assertThat(send("nobody", "t1")).isEqualTo(new Rejected(0, "no_credential"));
  }
}
