package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.pushplanet.common.access.ApiKey;
import io.pushplanet.dashboard.browser.Chromium;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Operators cancel messages through the API. A small server takes the place of the dispatcher.
class CancellationIT {
  private static final String APP = "stopped";

  private final RunningDashboard shared = RunningDashboard.shared();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final HttpServer dispatcher = listening();
  private final RunningDashboard dashboard =
      RunningDashboard.start(
          shared.services(),
          Map.of(
              "dashboard.dispatcher-url", "http://127.0.0.1:" + dispatcher.getAddress().getPort()));
  private String message = "";

  private static HttpServer listening() {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.start();
      return server;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void aMessageThatIsBeingSent() {
    Rows rows = new Rows(shared.sql());
    rows.app(APP, "Stopped");
    message = rows.message(APP, "Wrong price", "Only 1 won", "{\"kind\":\"all\"}", 24_000);
    shared.sql().update("UPDATE messages SET delivered = 480 WHERE id = ?", message);
    shared.operator("onlooker", "viewer");
    shared.operator("stopper", "operator");
  }

  @AfterEach
  void stop() {
    dashboard.stop();
    dispatcher.stop(0);
  }

  private String page() {
    return "/messages/" + message;
  }

  /// Cancels the message as the dispatcher does, and answers with this.
  private void answer(int status, String body, String statement) {
    dispatcher.createContext(
        "/",
        exchange -> {
          String key = exchange.getRequestHeaders().getFirst("Authorization").substring(7);
          asked.add(
              exchange.getRequestMethod()
                  + " "
                  + exchange.getRequestURI()
                  + " "
                  + isLive(ApiKey.parse(key).orElseThrow().id()));
          if (!statement.isEmpty()) {
            shared.sql().update(statement, message);
          }
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  private boolean isLive(String key) {
    return shared
        .sql()
        .queryForObject(
            "SELECT COUNT(*) = 1 FROM api_keys WHERE id = ? AND app_id = ? AND scopes = 'send' AND revoked_at IS NULL",
            Boolean.class,
            key,
            APP);
  }

  @Test
  void an_operator_cancels_a_message_by_a_button() {
    answer(
        200,
        "{\"state\":\"cancelled\"}",
        "UPDATE messages SET cancelled_at = NOW(3), cancelled = 22920 WHERE id = ?");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login("stopper", RunningDashboard.PASSWORD).go(page());
      chromium.picture("message-to-cancel-light");
      assertThat(
              chromium.script(
                  """
                  let question = '';
                  window.confirm = words => { question = words; return false; };
                  document.querySelector("form[action$='/cancel'] button").click();
                  return question;
                  """))
          .asString()
          .startsWith("Cancel this message?");
      assertThat(asked).isEmpty();

      chromium.acceptAnyQuestion().press("Cancel message");

      assertThat(chromium.path()).isEqualTo(page());
      assertThat(chromium.text()).contains("The message was cancelled");
      assertThat(chromium.textOf(".head .badge")).isEqualTo("cancelled");
      assertThat(chromium.count("form[action$='/cancel']")).isZero();
      PageWidth.holds(chromium, "a cancelled message");
      chromium.picture("message-cancelled-light");
    }
    assertThat(asked).containsExactly("POST /v1/apps/stopped/messages/" + message + ":cancel true");
    assertThat(audited()).containsExactly("stopper asked", "stopper cancelled");
    assertThat(
            shared
                .sql()
                .queryForObject(
                    "SELECT COUNT(*) FROM api_keys WHERE app_id = ? AND revoked_at IS NULL",
                    Long.class,
                    APP))
        .isZero();
  }

  @Test
  void a_viewer_cancels_nothing_and_an_admin_may() throws Exception {
    answer(200, "{\"state\":\"cancelled\"}", "");
    HttpOperator viewer = HttpOperator.loggedIn(dashboard, "onlooker", RunningDashboard.PASSWORD);
    assertThat(viewer.get(page()).body()).contains("Wrong price").doesNotContain("/cancel");
    assertThat(viewer.post("/account", page() + "/cancel").statusCode()).isEqualTo(403);

    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    assertThat(admin.get(page()).body()).contains(page() + "/cancel");
    assertThat(admin.postWithoutToken(page() + "/cancel").statusCode()).isEqualTo(403);
    assertThat(audited()).isEmpty();

    assertThat(admin.post(page(), page() + "/cancel").statusCode()).isEqualTo(302);
    assertThat(audited()).containsExactly("admin asked", "admin cancelled");
  }

  @Test
  void a_message_that_has_ended_is_not_cancelled() throws Exception {
    answer(200, "{\"state\":\"done\"}", "UPDATE messages SET delivered = recipients WHERE id = ?");
    HttpOperator operator = HttpOperator.loggedIn(dashboard, "stopper", RunningDashboard.PASSWORD);

    operator.post(page(), page() + "/cancel");

    assertThat(operator.get(page()).body())
        .contains("nothing was left to cancel")
        .doesNotContain(page() + "/cancel");
    assertThat(audited()).containsExactly("stopper asked", "stopper done before");
    assertThat(
            operator
                .post("/account", "/messages/01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf/cancel")
                .statusCode())
        .isEqualTo(404);
  }

  @Test
  void the_page_says_why_a_message_was_not_cancelled() throws Exception {
    answer(503, "{\"detail\":\"The message is not written yet. Cancel it again.\"}", "");
    HttpOperator operator = HttpOperator.loggedIn(dashboard, "stopper", RunningDashboard.PASSWORD);

    operator.post(page(), page() + "/cancel");
    assertThat(operator.get(page()).body()).contains("Cancel it again.");

    dispatcher.stop(0);
    operator.post(page(), page() + "/cancel");
    assertThat(operator.get(page()).body())
        .contains("does not answer, so the message was not cancelled")
        .contains(page() + "/cancel");
    assertThat(audited())
        .containsExactly(
            "stopper asked", "stopper refused", "stopper asked", "stopper dispatcher away");
  }

  private List<String> audited() {
    return shared
        .sql()
        .queryForList(
            "SELECT CONCAT(operator, ' ', detail) FROM audit WHERE action = 'message_cancelled' AND subject = ? ORDER BY id",
            String.class,
            APP + "/" + message);
  }
}
