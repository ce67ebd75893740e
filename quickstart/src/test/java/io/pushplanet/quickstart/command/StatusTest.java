package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.pushplanet.quickstart.platform.Program;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StatusTest {

  @Test
  void a_program_that_is_ready_has_no_obstacle() throws IOException {
    assertThat(obstacle(200, "{\"status\":\"UP\"}")).isEmpty();
  }

  @Test
  void a_program_that_waits_for_servers_names_them() throws IOException {
    assertThat(
            obstacle(
                503,
                """
                {"status":"DOWN","components":{
                  "broker":{"status":"DOWN","details":{"reason":"the message broker cannot be reached"}},
                  "mysql":{"status":"UP"},
                  "node":{"status":"OUT_OF_SERVICE","details":{"redis":"reachable"}}}}
                """))
        .contains("the message broker cannot be reached; node is OUT_OF_SERVICE");
  }

  @Test
  void a_program_without_a_reason_is_named_with_its_address() throws IOException {
    assertThat(obstacle(503, "<html>"))
        .hasValueSatisfying(
            words -> assertThat(words).contains("/actuator/health/readiness").contains("not why"));
  }

  @Test
  void a_program_that_does_not_answer_is_named_with_its_address() throws IOException {
    HttpServer server = server(200, "");
    String url = url(server);
    server.stop(0);

    assertThat(Status.obstacle(Program.WORKER, url))
        .hasValueSatisfying(words -> assertThat(words).startsWith("it does not answer at " + url));
  }

  private static Optional<String> obstacle(int status, String body) throws IOException {
    HttpServer server = server(status, body);
    try {
      return Status.obstacle(Program.WORKER, url(server));
    } finally {
      server.stop(0);
    }
  }

  private static HttpServer server(int status, String body) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/actuator/health/readiness",
        exchange -> {
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    return server;
  }

  private static String url(HttpServer server) {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }
}
