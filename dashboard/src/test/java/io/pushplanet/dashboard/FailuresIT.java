package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.dashboard.browser.Chromium;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.support.TransactionTemplate;

class FailuresIT {
  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void html_in_a_title_is_text_on_every_page() {
    Rows rows = new Rows(dashboard.sql());
    rows.app("html", "<i>Html</i>");
    rows.device("html", "d1", "android", "<script>alert(1)</script>");
    String evil =
        "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">";
    String message = rows.message("html", evil, evil, "{\"kind\":\"all\"}", 1);
    rows.delivery(
        "html",
        message,
        "d1",
        "failed",
        "[{\"channel\":\"apns\",\"at\":\"2026-11-21T10:00:00Z\",\"result\":\"rejected\",\"reason\":\"<b>x</b>\"}]");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      for (String page :
          List.of(
              "/messages",
              "/messages/" + message,
              "/devices/html/d1",
              "/apps",
              "/devices?app=html")) {
        chromium.go(page);
        assertThat(chromium.script("return document.title")).as(page).isNotEqualTo("owned");
        assertThat(chromium.count("main img, main script, main b, main i")).as(page).isZero();
      }
      assertThat(chromium.go("/messages/" + message).textOf("#message-title")).isEqualTo(evil);
    }
  }

  @Test
  void an_upload_of_50_mb_is_answered_with_a_page_that_says_so() throws Exception {
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    HttpResponse<String> declared =
        admin.upload(
            "/apps/shop/credentials/p8",
            BodyPublishers.fromPublisher(
                BodyPublishers.ofInputStream(() -> HttpOperator.zeros(50_000_000)), 50_000_000));
    HttpResponse<String> endless =
        admin.upload(
            "/apps/shop/credentials/p8",
            BodyPublishers.ofInputStream(() -> HttpOperator.zeros(100_000)));

    assertThat(declared.statusCode()).isEqualTo(413);
    assertThat(declared.body()).contains("The file is too large").contains("1 MB");
    assertThat(endless.statusCode()).isEqualTo(411);
    assertThat(admin.get("/apps").statusCode()).isEqualTo(200);
  }

  @Test
  void an_unknown_page_shows_no_stack_trace() throws Exception {
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    for (String path :
        List.of(
            "/nowhere",
            "/messages/nonsense",
            "/messages/01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf",
            "/devices/shop/unknown",
            "/apps/UPPER/keys",
            "/apps/missing/credentials")) {
      HttpResponse<String> answer = admin.get(path);
      assertThat(answer.statusCode()).as(path).isEqualTo(404);
      assertThat(answer.body()).contains("There is nothing here").doesNotContain("Exception");
    }
    assertThat(admin.get("/audit?before=soon").statusCode()).isEqualTo(400);
    assertThat(admin.get("/audit?before=soon").body()).doesNotContain("Exception");
  }

  @Test
  void without_mysql_it_says_so_and_is_not_ready() throws Exception {
    RunningDashboard alone =
        RunningDashboard.start(
            dashboard.services(),
            Map.of(
                "pushplanet.mysql.url", "jdbc:mysql://127.0.0.1:1/nothing",
                "spring.jmx.enabled", "false"));
    try {
      HttpOperator operator = new HttpOperator(alone.address());

      HttpResponse<String> login = operator.login("admin", "whatever it is");
      assertThat(login.statusCode()).isEqualTo(503);
      assertThat(login.body())
          .contains("The database cannot be used")
          .contains("pushplanet.mysql.url");
      assertThat(login.headers().firstValue("Retry-After")).isPresent();

      HttpOperator health = new HttpOperator(alone.managementAddress());
      assertThat(health.get("/actuator/health/readiness").statusCode()).isEqualTo(503);
      assertThat(health.get("/actuator/health/liveness").statusCode()).isEqualTo(200);
    } finally {
      alone.stop();
    }
  }

  @Test
  void a_user_with_many_devices_has_more_than_one_page_of_them() throws Exception {
    Rows rows = new Rows(dashboard.sql());
    rows.app("crowd", "Crowd");
    for (int i = 10; i < 70; i++) {
      rows.device("crowd", "one-of-" + i, "android", "collector");
    }
    rows.device("crowd", "zzz", "android", "somebody else");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    String first = admin.get("/devices?app=crowd&find=collector").body();
    assertThat(first)
        .contains("one-of-59")
        .doesNotContain("one-of-60")
        .contains("/devices?app=crowd&amp;find=collector&amp;after=one-of-59");
    assertThat(admin.get("/devices?app=crowd&find=collector&after=one-of-59").body())
        .contains("one-of-60")
        .contains("one-of-69")
        .doesNotContain("zzz");
  }

  @Test
  void a_user_with_the_id_of_a_device_is_found_beside_it() throws Exception {
    Rows rows = new Rows(dashboard.sql());
    rows.app("namesakes", "Namesakes");
    rows.device("namesakes", "same", "ios", "somebody else");
    rows.device("namesakes", "another", "android", "same");
    rows.device("namesakes", "own", "android", "own");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    assertThat(admin.get("/devices?app=namesakes&find=same").body())
        .containsSubsequence("/devices/namesakes/same", "/devices/namesakes/another")
        .doesNotContain("/devices/namesakes/own");
    assertThat(
            admin
                .get("/devices?app=namesakes&find=own")
                .headers()
                .firstValue("Location")
                .orElseThrow())
        .endsWith("/devices/namesakes/own");
  }

  @Test
  void strange_words_in_an_address_are_no_error() throws Exception {
    Rows rows = new Rows(dashboard.sql());
    rows.app("odd", "Odd");
    rows.device("odd", "d1", "android", "u-1");
    String message = rows.message("odd", "Odd", "Odd", "{\"kind\":\"all\"}", 1);
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    for (String word :
        List.of("%C3%BC", "%F0%9F%98%80", "%00", "'%22--", "%25", "x".repeat(2_000))) {
      for (String path :
          List.of(
              "/apps?find=" + word,
              "/apps?after=" + word,
              "/devices?app=odd&after=" + word,
              "/devices?app=odd&find=" + word,
              "/devices/odd/d1?before=" + word,
              "/messages?before=" + word,
              "/messages/" + message + "?after=" + word,
              "/audit?before=-1",
              "/?span=" + word)) {
        assertThat(admin.get(path).statusCode()).as(path).isEqualTo(200);
      }
      assertThat(admin.get("/devices?app=" + word).statusCode()).as(word).isEqualTo(404);
      assertThat(admin.get("/messages?app=" + word).statusCode()).as(word).isEqualTo(404);
      assertThat(admin.post("/apps", "/apps/odd/keys/" + word + "/revoke").statusCode())
          .as(word)
          .isIn(400, 404);
    }
    assertThat(admin.post("/operators", "/operators/admin/role", "role", "king").statusCode())
        .isEqualTo(400);
  }

  @Test
  void queues_that_have_no_leader_hold_up_no_page() throws Exception {
    try (Connection broker = dashboard.bean(ConnectionFactory.class).newConnection()) {
      Topology.declare(broker);
    }
    LeaderlessBroker broker = new LeaderlessBroker(dashboard.services().amqp());
    RunningDashboard other =
        RunningDashboard.start(dashboard.services(), Map.of("pushplanet.amqp.uri", broker.uri()));
    try (broker) {
      HttpOperator admin =
          HttpOperator.loggedIn(other, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      assertThat(admin.get("/").body()).contains("RabbitMQ does not answer").contains("Accepted");
      assertThat(admin.get("/dead-letters").body()).contains("The broker does not answer");
    } finally {
      other.stop();
    }
  }

  @Test
  void a_database_that_is_too_busy_is_said_to_be() throws Exception {
    new Rows(dashboard.sql()).app("contended", "Contended");
    RunningDashboard hasty =
        RunningDashboard.start(
            dashboard.services(), Map.of("mybatis.configuration.default-statement-timeout", "1"));
    var rows = dashboard.bean(TransactionTemplate.class);
    try {
      HttpOperator admin =
          HttpOperator.loggedIn(hasty, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      HttpResponse<String> answer =
          rows.execute(_ -> {
            dashboard.sql().queryForMap("SELECT * FROM apps WHERE id = 'contended' FOR UPDATE");
            return create(admin);
          });

      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("away, too busy");
    } finally {
      hasty.stop();
    }
  }

  /// After a failover MySQL may be a replica (1290), and its disk may be full (1114).
  @ParameterizedTest
  @ValueSource(ints = {1290, 1114})
  void a_database_that_takes_no_changes_is_said_to_be_away(int error) throws Exception {
    new Rows(dashboard.sql()).app("replica", "Replica");
    dashboard.operator("late", "viewer");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    try (Refusing _ =
            Refusing.of(dashboard.sql(), "INSERT ON api_keys", "NEW.app_id = 'replica'", error);
        Refusing _ =
            Refusing.of(dashboard.sql(), "INSERT ON audit", "NEW.operator = 'late'", error)) {
      HttpResponse<String> change =
          admin.post("/apps/replica/keys", "/apps/replica/keys", "name", "k", "scopes", "SEND");
      HttpResponse<String> login =
          new HttpOperator(dashboard.address()).login("late", RunningDashboard.PASSWORD);

      assertThat(List.of(change, login))
          .allSatisfy(answer -> {
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).isPresent();
            assertThat(answer.body()).contains("takes no changes");
          });
    }
  }

  private static HttpResponse<String> create(HttpOperator admin) {
    try {
      return admin.post(
          "/apps/contended/keys", "/apps/contended/keys", "name", "waits", "scopes", "SEND");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void health_and_metrics_are_on_the_management_port_only() throws Exception {
    HttpOperator management = new HttpOperator(dashboard.managementAddress());

    assertThat(management.get("/actuator/health/readiness").statusCode()).isEqualTo(200);
    assertThat(management.get("/actuator/prometheus").body()).contains("dashboard_audit_entries");
    assertThat(new HttpOperator(dashboard.address()).get("/actuator/health").statusCode())
        .isEqualTo(302);
  }

  private static HttpServer dispatcher(HttpHandler answers) throws IOException {
    HttpServer dispatcher =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    dispatcher.createContext("/", answers);
    dispatcher.start();
    return dispatcher;
  }

  private RunningDashboard before(HttpServer dispatcher) throws Exception {
    return RunningDashboard.start(
        dashboard.services(),
        Map.of(
            "dashboard.dispatcher-url", "http://127.0.0.1:" + dispatcher.getAddress().getPort()));
  }

  private static void answer(HttpExchange exchange, int status) throws IOException {
    byte[] answer =
        "{\"id\":\"01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf\",\"state\":\"accepted\",\"recipients\":{\"estimate\":0}}"
            .getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  @Test
  void a_test_push_uses_a_key_that_lives_no_longer_than_the_request() throws Exception {
    new Rows(dashboard.sql()).app("tested", "Tested");
    List<String> asked = new CopyOnWriteArrayList<>();
    List<String> forms = new CopyOnWriteArrayList<>();
    HttpServer dispatcher =
        dispatcher(exchange -> {
          forms.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
          String key = exchange.getRequestHeaders().getFirst("Authorization").substring(7);
          String id = ApiKey.parse(key).orElseThrow().id();
          boolean live =
              dashboard
                  .sql()
                  .queryForObject(
                      "SELECT COUNT(*) = 1 FROM api_keys WHERE id = ? AND app_id = 'tested' AND scopes = 'send' AND revoked_at IS NULL",
                      Boolean.class,
                      id);
          asked.add(
              exchange.getRequestURI()
                  + " "
                  + live
                  + " "
                  + audited("tested")
                  + " "
                  + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          answer(exchange, asked.size() > 1 ? 202 : 401);
        });
    RunningDashboard other = before(dispatcher);
    try (Chromium chromium = Chromium.open(other.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      Object form = formOf(chromium.go("/test-push?app=tested&device=d1"));
      chromium.press("Send");
      assertThat(forms).hasSize(2).containsOnly(String.valueOf(form));
      assertThat(formOf(chromium)).isNotEqualTo(form);
      assertThat(chromium.text())
          .contains("Accepted for 0 recipients, as last counted.")
          .contains("01a1fc9a");
      assertThat(asked)
          .hasSize(2)
          .allMatch(
              request -> request.startsWith("/v1/apps/tested/messages true [device d1: asked] "))
          .allMatch(request -> request.contains("\"audience\":{\"device\":\"d1\"}"));
      assertThat(
              dashboard
                  .sql()
                  .queryForObject(
                      "SELECT COUNT(*) FROM api_keys WHERE app_id = 'tested' AND revoked_at IS NULL",
                      Long.class))
          .isZero();

      dispatcher.stop(0);
      chromium.press("Send");
      assertThat(chromium.text()).contains("does not answer, so nothing was sent");
      assertThat(audited("tested"))
          .containsExactly(
              "device d1: asked",
              "device d1: accepted as 01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf",
              "device d1: asked",
              "device d1: dispatcher away");
    } finally {
      other.stop();
      dispatcher.stop(0);
    }
  }

  private static Object formOf(Chromium chromium) {
    return chromium.script("return document.querySelector('input[name=form]').value");
  }

  @Test
  void an_accepted_test_push_is_shown_even_when_it_cannot_be_recorded() throws Exception {
    new Rows(dashboard.sql()).app("unwritten", "Unwritten");
    HttpServer dispatcher = dispatcher(exchange -> answer(exchange, 202));
    RunningDashboard other = before(dispatcher);
    try (Chromium chromium = Chromium.open(other.address());
        Refusing _ =
            Refusing.of(
                dashboard.sql(),
                "INSERT ON audit",
                "NEW.subject = 'unwritten' AND NEW.detail LIKE '%accepted%'")) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      chromium.go("/test-push?app=unwritten&device=d1").press("Send");
      assertThat(chromium.text()).contains("Accepted").contains("01a1fc9a");
      assertThat(audited("unwritten")).containsExactly("device d1: asked");
    } finally {
      other.stop();
      dispatcher.stop(0);
    }
  }

  @Test
  void a_test_push_without_an_answer_may_have_been_sent() throws Exception {
    new Rows(dashboard.sql()).app("unanswered", "Unanswered");
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch answers = new CountDownLatch(1);
    HttpServer dispatcher =
        dispatcher(exchange -> {
          asked.countDown();
          try {
            answers.await(60, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          exchange.close();
        });
    RunningDashboard other =
        RunningDashboard.start(
            dashboard.services(),
            Map.of(
                "dashboard.dispatcher-url",
                "http://127.0.0.1:" + dispatcher.getAddress().getPort(),
                "dashboard.test-push-timeout",
                "1s"));
    try (Chromium chromium = Chromium.open(other.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      chromium.go("/test-push?app=unanswered&device=d1").pressTwice("Send");

      assertThat(chromium.text())
          .contains("has not answered in time, and may have accepted the push")
          .doesNotContain("nothing was sent");
      chromium.picture("test-push-unanswered-light");
      assertThat(asked.getCount()).isZero();
      assertThat(audited("unanswered"))
          .containsExactly("device d1: asked", "device d1: no answer, perhaps accepted");
    } finally {
      answers.countDown();
      other.stop();
      dispatcher.stop(0);
    }
  }

  private List<String> audited(String app) {
    return dashboard
        .sql()
        .queryForList("SELECT detail FROM audit WHERE subject = ? ORDER BY id", String.class, app);
  }
}
