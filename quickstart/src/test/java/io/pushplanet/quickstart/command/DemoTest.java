package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.pushplanet.quickstart.command.Demo.Sent;
import io.pushplanet.quickstart.platform.PretendedPlatform;
import io.pushplanet.quickstart.platform.Rest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// With an API that numbers the messages, and an MQTT server.
class DemoTest {
  /// The number of the demo's messages.
  private static final UUID[] MESSAGES =
      IntStream.range(0, 8).mapToObj(number -> new UUID(0, number)).toArray(UUID[]::new);

  private static final Duration LONG = Duration.ofSeconds(60);

  private final List<String> said = new ArrayList<>();

  /// The device of each message.
  private final List<String> sent = new ArrayList<>();

  /// The devices whose messages never get an outcome.
  private Set<String> broken = Set.of();

  private HttpServer http;

  @BeforeEach
  void listen() throws IOException {
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  @AfterEach
  void close() {
    http.stop(0);
  }

  @Test
  void a_demo_with_prompt_deliveries_reports_no_wait() throws Exception {
    try (TerseServer mqtt = new TerseServer(MESSAGES)) {
      Set<Sent> undelivered = play(mqtt, new Patience(LONG, LONG.multipliedBy(2), said::add));

      assertThat(undelivered).isEmpty();
      assertThat(sent).hasSize(MESSAGES.length);
      assertThat(said).noneMatch(line -> line.contains("waiting for"));
      assertThat(mqtt.sent()).contains(TerseServer.Sent.PUBLISH);
    }
  }

  @Test
  void a_device_without_its_message_is_named_during_the_wait_and_at_the_end() throws Exception {
    broken = Set.of("demo-phone", "demo-huawei");
    try (TerseServer mqtt = new TerseServer()) {
      Set<Sent> undelivered =
          play(mqtt, new Patience(Duration.ofMillis(1), Duration.ofMillis(2), said::add));

      assertThat(said.stream().filter(line -> line.contains("waiting for")))
          .containsExactly(
              "  waiting for demo-sensor, 0 s at most",
              "  waiting for demo-phone, 0 s at most",
              "  waiting for demo-sensor, 0 s at most",
              "  waiting for demo-phone, demo-huawei, 0 s at most");
      assertThat(undelivered)
          .containsExactlyInAnyOrder(
              new Sent("demo-sensor", MESSAGES[0].toString()),
              new Sent("demo-phone", MESSAGES[1].toString()),
              new Sent("demo-phone", MESSAGES[2].toString()),
              new Sent("demo-huawei", MESSAGES[5].toString()),
              new Sent("demo-sensor", MESSAGES[7].toString()));
      assertThat(said)
          .contains("  " + MESSAGES[4] + "  delivered -        ")
          .contains("  " + MESSAGES[5] + "  queued    -        ");
      assertThat(mqtt.sent()).doesNotContain(TerseServer.Sent.PUBLISH);
    }
  }

  @Test
  void a_missing_message_is_reported_in_one_line_with_advice() {
    assertThat(
            Demo.advice(
                new Sent("demo-sensor", "m1"),
                PretendedPlatform.addresses(),
                Path.of("/repository"),
                Path.of("/a b")))
        .contains(
            "./pushplanet status '--state=/a b'",
            "what demo-sensor did not get (http://127.0.0.1:8081/messages/m1)",
            "the logs in /a b/logs")
        .doesNotContain("\n");
  }

  private Set<Sent> play(TerseServer mqtt, Patience patience) {
    http.createContext("/", exchange -> answer(exchange, form(exchange, mqtt)));
    http.start();
    try (Rest rest = new Rest("http://127.0.0.1:" + http.getAddress().getPort(), "")) {
      return new Demo(rest, rest, PretendedPlatform.addresses(), patience).show();
    }
  }

  private ObjectNode form(HttpExchange exchange, TerseServer mqtt) throws IOException {
    String path = exchange.getRequestURI().getPath();
    if (path.endsWith("/messages")) {
      String device =
          JsonMapper.shared()
              .readTree(exchange.getRequestBody())
              .path("audience")
              .path("device")
              .asString();
      sent.add(device);
      return JsonMapper.shared().createObjectNode().put("id", MESSAGES[sent.size() - 1].toString());
    }
    if (path.endsWith("/deliveries")) {
      String device = path.split("/")[5];
      ObjectNode page = JsonMapper.shared().createObjectNode();
      page.putArray("data").addObject().put("message", "a former one").put("state", "failed");
      for (int message = 0; message < sent.size() && !broken.contains(device); message++) {
        if (sent.get(message).equals(device)) {
          page.withArray("data")
              .addObject()
              .put("message", MESSAGES[message].toString())
              .put("state", "delivered");
        }
      }
      return page;
    }
    return mqtt.registration();
  }

  private static void answer(HttpExchange exchange, ObjectNode form) throws IOException {
    byte[] bytes = form.toString().getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
