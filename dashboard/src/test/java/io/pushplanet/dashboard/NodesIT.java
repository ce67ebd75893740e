package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodePass;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dashboard.browser.Chromium;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodesIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void an_admin_drains_a_node_after_a_question_and_lets_it_take_devices_again() throws Exception {
    try (FakeNode node = new FakeNode(dashboard, "cm-seoul-1");
        Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      // The page waits two seconds for a node.
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(chromium.go("/nodes").text())
                  .contains("cm-seoul-1")
                  .contains("1.4.0")
                  .contains("18,432"));

      chromium.focusUntilReplaced("a[href='/nodes/cm-seoul-1/drain']");
      assertThat(chromium.focused()).isEqualTo("Drain");

      chromium.go("/nodes/cm-seoul-1/drain");
      assertThat(chromium.text()).contains("18,432 devices are connected");
      assertThat(node.orders).as("only asked").isEmpty();
      chromium.type("per-second", "250").press("Drain");

      assertThat(node.orders).containsExactly("POST /node/drain?per-second=250");
      assertThat(
              new NodePass(MasterKey.parse(RunningDashboard.MASTER_KEY), Clock.systemUTC())
                  .isValid(new NodeId("cm-seoul-1"), node.passes.getFirst()))
          .isTrue();
      assertThat(chromium.path()).isEqualTo("/nodes");
      assertThat(chromium.text())
          .contains("moves those it has, 250 a second")
          .contains("draining")
          .contains("6,432 devices left");

      // In one script, because the part of the page with the button is replaced every three
      // seconds.
      chromium.script(
          "document.querySelector(\"form[action='/nodes/cm-seoul-1/drain/cancel'] button\").click()");

      Eventually.within(
          PATIENCE, () -> assertThat(chromium.text()).contains("cm-seoul-1 takes devices again"));
      assertThat(node.orders).hasSize(2).last().isEqualTo("DELETE /node/drain");
      assertThat(audited("cm-seoul-1")).containsExactly("node_drained", "node_drain_cancelled");
      node.state("EMPTY");
      Eventually.within(PATIENCE, () -> assertThat(chromium.text()).contains("It can be stopped"));
      assertThat(chromium.complaints()).isEmpty();
    }
  }

  @Test
  void each_number_of_a_node_is_on_the_page() throws Exception {
    try (FakeNode node = new FakeNode(dashboard, "cm-numbers");
        Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      Eventually.within(
          PATIENCE,
          () ->
              assertThat(terms(chromium.go("/nodes")))
                  .containsExactly(
                      "Devices: 18,432",
                      "Heap per device: 812 B",
                      "Connects a second: 37.4",
                      "In flight: 128",
                      "Loop lag, p99: 2.2 ms",
                      "Sweep, p99: 4.9 ms",
                      "Times, p99: CONNECT to CONNACK 11 ms, takeover 23 ms",
                      "Connects: 90,210 devices admitted",
                      "Refused: bad user name or password 41, server busy 7",
                      "Closed before TLS: address too fast 1,204, address failed too often 66",
                      "Messages: 1,204,455 sent, 312 sent again",
                      "Returned: not here 903, timed out 17, queue full 2",
                      "Connections given up: 29 on dead paths, 4 taken over by other nodes"));
      assertThat(node.orders).isEmpty();
      assertThat(chromium.complaints()).isEmpty();
    }
  }

  private static List<String> terms(Chromium chromium) {
    var terms =
        (List<?>)
            chromium.script(
                """
                return [...document.querySelectorAll('.node dt')]
                  .map(term => term.textContent + ': ' + term.nextElementSibling.textContent);
                """);
    return terms.stream().map(String::valueOf).toList();
  }

  @Test
  void the_times_of_messages_are_drawn_and_told() throws Exception {
    try (FakeNode node = new FakeNode(dashboard, "cm-histograms");
        Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      Eventually.within(
          PATIENCE,
          () -> assertThat(chromium.go("/nodes").count(".histograms figure")).isEqualTo(2));

      assertThat(chromium.textOf("figure:nth-child(1) figcaption"))
          .contains("Frame to PUBLISH")
          .contains("p50 0.21 ms, p99 1.8 ms, longest 40 ms");
      assertThat(chromium.textOf("figure:nth-child(2) figcaption"))
          .contains("PUBLISH to PUBACK")
          .contains("p50 61 ms, p99 412 ms, longest 2.2 s");
      assertThat(heights(chromium, 1))
          .hasSize(20)
          .startsWith(4L, 60L, 100L, 46L)
          .endsWith(0L, 0L)
          .element(9)
          .as("few, but visible")
          .isEqualTo(3L);
      assertThat(heights(chromium, 2)).hasSize(16).startsWith(0L, 3L, 3L, 10L, 29L, 72L, 100L);
      assertThat(
              chromium.script("return document.querySelector('figure:nth-child(2) svg').ariaLabel"))
          .asString()
          .startsWith("PUBLISH to PUBACK: up to 2.1 ms: 1,200; up to 4.2 ms: 9,800; ")
          .endsWith("; up to 2.1 s: 995; up to 4.3 s: 5");
      assertThat(
              chromium.script(
                  "return document.querySelector('figure:nth-child(2) g:last-child title').textContent"))
          .isEqualTo("longer: 0");
      assertThat(node.orders).isEmpty();
      assertThat(chromium.complaints()).isEmpty();
    }
  }

  private static List<Long> heights(Chromium chromium, int figure) {
    var bars =
        (List<?>)
            chromium.script(
                "return [...document.querySelectorAll('figure:nth-child("
                    + figure
                    + ") .bar')].map(bar => bar.height.baseVal.value)");
    return bars.stream().map(height -> ((Number) height).longValue()).toList();
  }

  @Test
  void a_devices_page_says_to_which_node_it_is_connected() throws Exception {
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    Rows rows = new Rows(dashboard.sql());
    rows.app("whereabouts", "Whereabouts");
    rows.device("whereabouts", "d1", "android", "u1");
    String page = "/devices/whereabouts/d1";
    assertThat(admin.get(page).body()).contains("not connected");

    try (FakeNode node = new FakeNode(dashboard, "cm-busan-1")) {
      node.holds(new DeviceKey(new AppId("whereabouts"), new DeviceId("d1")));

      assertThat(admin.get(page).body()).contains("connected to cm-busan-1");
    }
    assertThat(admin.get(page).body()).as("its node is gone").contains("not connected");
  }

  @Test
  void the_answer_of_the_node_is_shown() throws Exception {
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    try (FakeNode node = new FakeNode(dashboard, "cm-stubborn")) {
      node.answering(401);
      admin.post("/nodes/cm-stubborn/drain", "/nodes/cm-stubborn/drain", "perSecond", "5");
      assertThat(admin.get("/nodes").body()).contains("has another pushplanet.master-key");

      node.silent();
      admin.post("/nodes/cm-stubborn/drain", "/nodes/cm-stubborn/drain", "perSecond", "5");
      assertThat(admin.get("/nodes").body())
          .contains("does not answer at 127.0.0.1:1")
          .contains("shows only what its lease says");
    }
    assertThat(admin.get("/nodes/cm-gone/drain").statusCode()).isEqualTo(404);
  }

  @Test
  void a_node_that_stops_in_the_middle_of_its_answer_holds_up_no_page() throws Exception {
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    try (FakeNode node = new FakeNode(dashboard, "cm-stuck")) {
      node.stuck();

      assertThat(admin.get("/nodes").body())
          .contains("cm-stuck")
          .contains("shows only what its lease says");
      admin.post("/nodes/cm-stuck/drain", "/nodes/cm-stuck/drain", "perSecond", "5");
      assertThat(admin.get("/nodes").body()).contains("does not answer at 127.0.0.1:");
    }
  }

  @Test
  void a_node_that_tells_something_else_spoils_no_page() throws Exception {
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    try (FakeNode node = new FakeNode(dashboard, "cm-strange")) {
      for (String answer :
          List.of(
              "null",
              "{}",
              "[]",
              "<html>",
              "{\"drain\":{},\"numbers\":{\"refused\":{},\"dropped\":{}}}")) {
        node.telling(answer);

        assertThat(admin.get("/nodes").body())
            .as(answer)
            .contains("cm-strange")
            .contains("shows only what its lease says");
      }
      // Like a node of a version that does not report times yet.
      node.telling(
          """
          {"sessions":7,
           "drain":{"state":"OPEN","per_second":0,"sessions_at_start":0,"told":0,"seconds_left":0},
           "numbers":{"connects_per_second":1.0,"connected":1,"refused":{},"in_flight":0,"published":0,"redelivered":0,
            "dropped":{},"dead_paths":0,"fenced":0}}
          """);
      assertThat(admin.get("/nodes").body())
          .contains("cm-strange")
          .containsPattern("Frame to PUBLISH</strong> <span[^>]*>not reported by this version")
          .containsPattern("Closed before TLS</dt><dd>not reported by this version")
          .containsPattern("takeover -");
    }
  }

  @Test
  void only_admins_drain_and_only_with_the_forms_token() throws Exception {
    try (FakeNode node = new FakeNode(dashboard, "cm-guarded")) {
      for (String role : List.of("viewer", "operator")) {
        String name = "drainer-" + role;
        dashboard.operator(name, role);
        HttpOperator other = HttpOperator.loggedIn(dashboard, name, RunningDashboard.PASSWORD);

        assertThat(other.get("/nodes").body()).contains("cm-guarded").doesNotContain("/drain");
        assertThat(other.get("/nodes/cm-guarded/drain").statusCode()).isEqualTo(403);
        assertThat(other.post("/account", "/nodes/cm-guarded/drain", "perSecond", "5").statusCode())
            .isEqualTo(403);
      }
      HttpOperator admin =
          HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      assertThat(admin.postWithoutToken("/nodes/cm-guarded/drain?perSecond=5").statusCode())
          .isEqualTo(403);
      assertThat(node.orders).isEmpty();
      assertThat(audited("cm-guarded")).isEmpty();
    }
  }

  private List<String> audited(String subject) {
    return dashboard
        .sql()
        .queryForList(
            "SELECT action FROM audit WHERE subject = ? ORDER BY id", String.class, subject);
  }
}
