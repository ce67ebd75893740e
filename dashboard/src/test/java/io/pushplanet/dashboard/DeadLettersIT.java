package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dashboard.browser.Chromium;
import io.pushplanet.quickstart.services.LocalServices;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeadLettersIT {
  private static final String LANE = "push.webpush.normal";
  private static final String ID = "01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf";
  private static final String BURIED = "2026-11-21 10:00:00";
  private static final String PUSH = "{\"id\":\"" + ID + "\",\"grüße\":1}";

  private static final String UNTIL_ALARM =
      "(fun Wait() -> case rabbit_alarm:get_alarms() of [] -> timer:sleep(50), Wait(); _ -> ok end end)().";

  private static final Pattern LETTER = Pattern.compile("/dead-letters/([0-9a-f]{64})");

  private final RunningDashboard dashboard = RunningDashboard.shared();
  private Connection connection;
  private Channel broker;

  @BeforeEach
  void connect() throws Exception {
    var factory = new ConnectionFactory();
    factory.setUri(dashboard.services().amqp());
    connection = factory.newConnection();
    broker = connection.createChannel();
    Topology.declare(connection);
    broker.queuePurge(Topology.DEAD);
    broker.queuePurge(LANE);
    broker.confirmSelect();
  }

  @AfterEach
  void close() throws Exception {
    Topology.declare(connection);
    broker.queuePurge(Topology.DEAD);
    broker.queuePurge(LANE);
    connection.close();
  }

  @Test
  void a_letter_is_shown_replayed_byte_for_byte_or_dropped() throws Exception {
    bury(LANE, "broken since <b>today</b>", PUSH);
    bury("no.queue.of.ours", "rubbish", "\u0001\u0002");
    long newest =
        dashboard.sql().queryForObject("SELECT COALESCE(MAX(id), 0) FROM audit", Long.class);
    try (var chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      var text = chromium.go("/dead-letters").text();
      chromium.picture("dead-letters-filled-light");
      assertThat(text).contains(LANE).contains("broken since <b>today</b>").contains(ID);
      assertThat(text).contains("unreadable").doesNotContain("grüße");
      waiting(Topology.DEAD, 2);

      chromium.pressIn("/replay", "Replay");
      assertThat(chromium.text()).contains("1 letter: put back").doesNotContain(ID);
      waiting(LANE, 1);
      assertThat(broker.basicGet(LANE, true).getBody())
          .isEqualTo(PUSH.getBytes(StandardCharsets.UTF_8));

      chromium.acceptAnyQuestion().pressIn("/drop", "Drop");
      assertThat(chromium.text()).contains("1 letter: dropped").contains("No dead letters");
      waiting(Topology.DEAD, 0);
      assertThat(
              dashboard
                  .sql()
                  .queryForList(
                      "SELECT action FROM audit WHERE action LIKE 'dead_letter%' AND id > ? ORDER BY id",
                      String.class, newest))
          .containsExactly("dead_letter_replayed", "dead_letter_dropped");
    }
  }

  @Test
  void an_admin_looks_into_one_letter() throws Exception {
    bury(LANE, "broken since today: 'Dear Ann'", PUSH);
    bury(LANE, "x".repeat(480) + ": 'Dear Bob'", "[" + "x".repeat(300_000));
    waiting(Topology.DEAD, 2);
    dashboard.operator("curious", "operator");
    HttpOperator curious = HttpOperator.loggedIn(dashboard, "curious", RunningDashboard.PASSWORD);
    try (var chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/dead-letters");
      PageWidth.holds(chromium, "dead letters with a long reason");
      assertThat(chromium.text()).contains("broken since today").doesNotContain("Dear");
      assertThat(chromium.script("return document.querySelector('tbody').offsetHeight"))
          .as("the list's height")
          .asInstanceOf(InstanceOfAssertFactories.LONG)
          .isLessThan(400);
      chromium.picture("dead-letters-long-reason-light");
      var paths =
          (List<?>)
              chromium.script(
                  "return [...document.querySelectorAll('td:first-child a')].map(one => one.pathname)");

      String first = chromium.go(paths.getFirst().toString()).text();
      assertThat(first)
          .contains("grüße")
          .contains("broken since today: 'Dear Ann'")
          .contains(LANE)
          .contains(BURIED);
      chromium.picture("dead-letter-light");
      assertThat(
              dashboard
                  .sql()
                  .queryForMap(
                      "SELECT operator, action, subject, detail FROM audit ORDER BY id DESC LIMIT 1"))
          .containsValues(RunningDashboard.ADMIN, "dead_letter_read", ID, "from " + LANE);
      for (int width : new int[] {1_280, 1_024, 390}) {
        chromium.size(width, 900).go(paths.getLast().toString());
        PageWidth.holds(chromium, width + " px of a long letter");
      }
      chromium.picture("dead-letter-long-phone-light");
      assertThat(chromium.text()).contains("Only the first 4 KB").contains("300,001 bytes");
      assertThat(curious.get(paths.getFirst().toString()).statusCode()).isEqualTo(403);
      assertThat(curious.get("/dead-letters").body())
          .contains("broken since today")
          .doesNotContain("Dear Ann")
          .doesNotContain("/dead-letters/");

      chromium.go(paths.getFirst().toString()).pressIn("/replay", "Replay");
      assertThat(chromium.text()).contains("1 letter: put back");
      assertThat(chromium.go(paths.getFirst().toString()).text())
          .contains("no longer among the oldest");
    }
  }

  @Test
  void only_one_of_equal_letters_is_replayed_or_dropped() throws Exception {
    for (int i = 0; i < 3; i++) {
      bury(LANE, "broken", PUSH);
    }
    waiting(Topology.DEAD, 3);
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    Matcher letter = LETTER.matcher(admin.get("/dead-letters").body());
    assertThat(letter.find()).isTrue();

    admin.post("/dead-letters", "/dead-letters/replay", "letter", letter.group(1));

    assertThat(admin.get("/dead-letters").body()).contains("1 letter: put back");
    waiting(LANE, 1);
    waiting(Topology.DEAD, 2);

    admin.post("/dead-letters", "/dead-letters/drop", "letter", letter.group(1));

    assertThat(admin.get("/dead-letters").body()).contains("1 letter: dropped");
    waiting(Topology.DEAD, 1);
  }

  /// Like unreadable letters: a worker buries each again as soon as it is back in its queue.
  @Test
  void letters_that_come_back_at_once_are_replayed_once_each() throws Exception {
    for (int i = 0; i < 3; i++) {
      bury(LANE, "broken", PUSH + " ".repeat(i));
    }
    waiting(Topology.DEAD, 3);
    Channel worker = connection.createChannel();
    worker.basicConsume(
        LANE,
        true,
        (_, letter) ->
            worker.basicPublish(
                "",
                Topology.DEAD,
                MessageProperties.MINIMAL_PERSISTENT_BASIC
                    .builder()
                    .headers(headers(LANE, "broken"))
                    .build(),
                letter.getBody()),
        _ -> {});
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    long before = audited().size();

    admin.post("/dead-letters", "/dead-letters/replay", "letter", "all");

    assertThat(admin.get("/dead-letters").body()).contains("3 letters: put back");
    assertThat(audited()).hasSize((int) before + 3);
    waiting(Topology.DEAD, 3);
    worker.close();
  }

  @Test
  void a_letter_whose_queue_is_gone_stays_and_the_log_says_so() throws Exception {
    bury(LANE, "broken", PUSH);
    waiting(Topology.DEAD, 1);
    broker.queueDelete(LANE);
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    long before = audited().size();

    admin.post("/dead-letters", "/dead-letters/replay", "letter", "all");

    assertThat(admin.get("/dead-letters").body())
        .contains("has no queue for the next one")
        .contains(ID);
    waiting(Topology.DEAD, 1);
    assertThat(audited().stream().skip(before))
        .containsExactly(
            "from " + LANE, "failed: the broker did not take it; it stays, from " + LANE);
  }

  @Test
  void a_broker_that_takes_nothing_holds_up_no_page() throws Exception {
    LocalServices services = dashboard.services();
    assumeTrue(services.isRabbitMq(), "the embedded broker blocks nobody");
    bury(LANE, "broken", PUSH);
    waiting(Topology.DEAD, 1);
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    services.rabbitmqctl("set_vm_memory_high_watermark", "0");
    try {
      services.rabbitmqctl("eval", UNTIL_ALARM);

      admin.post("/dead-letters", "/dead-letters/replay", "letter", "all");

      assertThat(admin.get("/dead-letters").body())
          .contains("The broker takes no messages just now")
          .contains(ID);
      assertThat(admin.get("/dead-letters").body()).contains(ID);
      waiting(Topology.DEAD, 1);
    } finally {
      services.rabbitmqctl("set_vm_memory_high_watermark", "0.4");
    }

    Eventually.within(
        Duration.ofSeconds(60),
        () -> {
          admin.post("/dead-letters", "/dead-letters/replay", "letter", "all");
          assertThat(admin.get("/dead-letters").body()).contains("No dead letters");
        });
    waiting(LANE, 1);
  }

  private List<String> audited() {
    return dashboard
        .sql()
        .queryForList(
            "SELECT detail FROM audit WHERE subject = ? AND action = 'dead_letter_replayed' ORDER BY id",
            String.class,
            ID);
  }

  /// A letter that a closing channel gives back arrives a moment later.
  private void waiting(String queue, int letters) {
    Eventually.within(
        Duration.ofSeconds(60),
        () ->
            assertThat(broker.queueDeclarePassive(queue).getMessageCount())
                .as(queue)
                .isEqualTo(letters));
  }

  private void bury(String queue, String reason, String body) throws Exception {
    broker.basicPublish(
        "",
        Topology.DEAD,
        MessageProperties.MINIMAL_PERSISTENT_BASIC
            .builder()
            .headers(headers(queue, reason))
            .timestamp(Date.from(Instant.parse("2026-11-21T10:00:00Z")))
            .build(),
        body.getBytes(StandardCharsets.UTF_8));
    assertThat(broker.waitForConfirms(60_000)).isTrue();
  }

  private static Map<String, Object> headers(String queue, String reason) {
    return Map.of(Topology.DEAD_QUEUE_HEADER, queue, Topology.DEAD_REASON_HEADER, reason);
  }
}
