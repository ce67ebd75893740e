package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.common.testing.Eventually;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The numbers by which operators judge a node, in both places where they find them. Before the
/// tests a device came from another node, lost its connection with an unacknowledged message, came
/// back, acknowledged it and the next one, and has a third; a client was refused; and a flood was
/// turned away.
class OperatorsNumbersIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int FLOOD = 40;

  /// Each time of `GET /node` with its meter.
  private static final Map<String, String> TIMES =
      Map.of(
          "loop_lag", "cm_transport_loop_lag_seconds",
          "sweep", "cm_transport_sweep_seconds",
          "connect", "cm_session_established_seconds",
          "takeover", "cm_session_takeover_seconds",
          "publish_to_write", "cm_delivery_written_seconds",
          "publish_to_ack", "cm_session_acknowledged_seconds");

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final List<AutoCloseable> OPEN = new ArrayList<>();
  private static TestNode node;

  @BeforeAll
  static void live() throws Exception {
    var former = opened(TestNode.start());
    node =
        opened(
            TestNode.start(
                "--cm.admission.unlimited-sources=192.0.2.0/24",
                "--cm.admission.address-connects-per-second=1",
                "--cm.admission.address-burst=20"));
    var gateway = opened(new TestGateway(node, "gw-numbers"));
    var device = TestNode.newDevice();
    var connect = SharedNode.persistent(device, MqttVersion.V5);
    opened(RawClient.subscribed(former.port("mqtt"), connect));

    try (var here = RawClient.subscribed(node.port("mqtt"), connect)) {
      gateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
      here.expect(MqttPacket.Publish.class);
    }
    var back = opened(RawClient.connected(node.port("mqtt"), connect));
    SharedNode.acknowledge(back, back.expect(MqttPacket.Publish.class));
    gateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
    SharedNode.acknowledge(back, back.expect(MqttPacket.Publish.class));
    gateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
    back.expect(MqttPacket.Publish.class);
    try (var liar = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      liar.send(RawClient.withWrongPassword()).expect(MqttPacket.ConnAck.class);
    }
    for (int number = 0; number < FLOOD; number++) {
      opened(new Socket("127.0.0.1", node.port("mqtt")));
    }
  }

  private static <T extends AutoCloseable> T opened(T one) {
    OPEN.addFirst(one);
    return one;
  }

  @AfterAll
  static void end() throws Exception {
    for (var one : OPEN) {
      one.close();
    }
  }

  @Test
  void each_is_on_the_nodes_page() {
    Eventually.within(
        PATIENCE,
        () -> {
          JsonNode page = JsonMapper.shared().readTree(get("/node"));
          JsonNode numbers = page.path("numbers");
          assertThat(page.path("sessions").intValue()).isOne();
          assertThat(numbers.has("bytes_per_session")).isTrue();
          assertThat(numbers.path("connected").intValue()).isEqualTo(2);
          assertThat(numbers.path("connects_per_second").isNumber()).isTrue();
          assertThat(numbers.path("refused").path("bad_user_name_or_password").intValue()).isOne();
          assertThat(numbers.path("turned_away").path("address_too_fast").intValue())
              .isBetween(1, FLOOD);
          assertThat(numbers.path("turned_away").has("admitted")).isFalse();
          assertThat(numbers.path("in_flight").intValue()).isOne();
          assertThat(numbers.path("redelivered").intValue()).isOne();
          assertThat(numbers.path("dropped").path("not_here").intValue()).isPositive();
          TIMES.keySet().forEach(name -> assertTimes(name, numbers.path(name)));
        });
  }

  private static void assertTimes(String name, JsonNode times) {
    int count = times.path("count").intValue();
    assertThat(count).as(name).isPositive();
    assertThat(times.path("mean_millis").doubleValue()).as(name).isPositive().isLessThan(60_000);
    double p50 = times.path("p50_millis").doubleValue();
    assertThat(p50).as(name).isPositive();
    assertThat(times.path("p99_millis").doubleValue()).as(name).isGreaterThanOrEqualTo(p50);
    JsonNode buckets = times.path("buckets");
    assertThat(buckets.size()).as(name).isGreaterThan(10);
    // A time may have been recorded between the two readings.
    assertThat(buckets.valueStream().mapToInt(bucket -> bucket.path("count").intValue()).sum())
        .as(name)
        .isBetween(count, count + 2);
  }

  @Test
  void each_is_in_prometheus() {
    Eventually.within(
        PATIENCE,
        () -> {
          var page = get("/actuator/prometheus");
          assertThat(value(page, "cm_sessions")).isOne();
          assertThat(value(page, "cm_session_heap_bytes")).as("too few sessions to tell").isNaN();
          assertThat(value(page, "cm_admission_connected_total")).isEqualTo(2);
          assertThat(
                  value(page, "cm_admission_refused_total", "reason=\"bad_user_name_or_password\""))
              .isOne();
          assertThat(value(page, "cm_transport_accepted_total", "verdict=\"address_too_fast\""))
              .isBetween(1.0, (double) FLOOD);
          assertThat(value(page, "cm_session_in_flight")).isOne();
          assertThat(value(page, "cm_session_redelivered_total")).isOne();
          assertThat(value(page, "cm_session_dropped_total", "reason=\"not_here\"")).isPositive();
          assertThat(value(page, "cm_session_takeovers_total")).isOne();
          TIMES.values().forEach(name -> assertHistogram(page, name));
        });
  }

  @Test
  void a_scrape_does_not_list_the_descriptors_of_all_sessions() throws Exception {
    assertThat(get("/actuator/prometheus"))
        .contains("process_files_max_files")
        .doesNotContain("process_files_open_files");
  }

  private static void assertHistogram(String page, String name) {
    double count = value(page, name + "_count");
    assertThat(count).as(name).isPositive();
    assertThat(value(page, name + "_sum") / count).as(name).isPositive().isLessThan(60);
    assertThat(value(page, name + "_bucket", "le=\"+Inf\"")).as(name).isEqualTo(count);
    assertThat(page.lines().filter(line -> line.startsWith(name + "_bucket{")))
        .as(name)
        .hasSizeGreaterThan(50);
  }

  /// The sum of the series of this name that have all these tags, each written `name="value"`.
  private static double value(String page, String name, String... tags) {
    var found =
        page.lines()
            .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
            .filter(line -> Arrays.stream(tags).allMatch(line::contains))
            .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
            .toArray();
    assertThat(found).as("series of %s %s", name, List.of(tags)).isNotEmpty();
    return Arrays.stream(found).sum();
  }

  private static String get(String path) throws Exception {
    var address = URI.create("http://127.0.0.1:" + node.http() + path);
    return HTTP.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString()).body();
  }
}
