package io.pushplanet.load.whole;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.load.fleet.Arrivals;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.fleet.Fleet;
import io.pushplanet.load.fleet.FleetSettings;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.quickstart.platform.Addresses;
import io.pushplanet.quickstart.platform.Plan;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.PublicAddress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The whole platform as shipped, on this machine, with the requests of the tests.
final class WholePlatform implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final JsonMapper JSON = JsonMapper.shared();

  final Platform platform;
  final Addresses at;
  final Api api;
  final Api simulators;
  private final Path state;

  WholePlatform(Path state) {
    this(state, PublicAddress.THIS_MACHINE);
  }

  WholePlatform(Path state, PublicAddress address) {
    this.state = state;
    Plan plan = Plan.forTests(Path.of("..", ".."), state).listeningOn(address);
    platform = Platform.start(plan, System.out::println);
    at = platform.addresses();
    api = new Api(at.dispatcherUrl() + "/v1/apps/" + at.app(), at.apiKey());
    simulators = new Api(at.simulatorsUrl(), "");
  }

  Target target() {
    return Target.of(state.resolve("quickstart.json"));
  }

  /// Devices that subscribe to one topic.
  record Audience(String topic, List<Device> devices) {}

  Audience audience(int count) throws Exception {
    var topic = "all-" + UUID.randomUUID();
    var devices = Population.register(target(), topic, Map.of(Channel.MQTT, count)).mqtt();
    for (var device : devices) {
      subscribe(device.id().value(), topic);
    }
    return new Audience(topic, devices);
  }

  Fleet fleet(List<Device> devices, Arrivals arrivals) {
    var fleet =
        Fleet.start(target().mqtt(), FleetSettings.DEFAULT, arrivals, new SplittableRandom());
    fleet.add(devices);
    assertThat(fleet.awaitReady(PATIENCE)).as("%s", fleet.reasons()).isTrue();
    return fleet;
  }

  String sendTo(Audience audience) throws Exception {
    var topic = "{\"topic\":\"" + audience.topic() + "\"}";
    return send(topic, content("to all"), "{\"ttl\":\"PT1H\"}");
  }

  void awaitDelivered(String id, int recipients) {
    Eventually.within(
        PATIENCE.multipliedBy(2),
        () -> {
          var counts = counts(id);
          assertThat(counts.path("recipients").asInt()).isEqualTo(recipients);
          assertThat(counts.path("delivered").asInt()).as("%s", counts).isEqualTo(recipients);
        });
  }

  void flushAll() throws IOException {
    assertThat(redis("FLUSHALL")).isEqualTo("+OK");
  }

  /// The first line of the answer.
  String redis(String command) throws IOException {
    var redis = platform.services().redis();
    try (var socket = new Socket(redis.getHost(), redis.getPort())) {
      socket.setSoTimeout((int) PATIENCE.toMillis());
      socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
      return new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
          .readLine();
    }
  }

  void subscribe(String device, String topic) throws Exception {
    var added = api.call("PUT", "/devices/" + device + "/topics/" + topic, "");
    assertThat(added.status()).as(added.toString()).isBetween(200, 204);
  }

  Mosquitto mosquitto() throws Exception {
    var device = "mosquitto-" + UUID.randomUUID();
    var registered =
        api.call(
            "PUT", "/devices/" + device, "{\"platform\":\"iot\",\"channels\":{\"mqtt\":true}}");
    assertThat(registered.status()).isEqualTo(201);
    return new Mosquitto(at, device, registered.body().path("mqtt").path("password").asString());
  }

  static String content(String title) {
    return "{\"title\":" + quoted(title) + "}";
  }

  static String quoted(String text) {
    return JSON.writeValueAsString(text);
  }

  String send(String audience, String content, String delivery) throws Exception {
    var accepted =
        api.call(
            "POST",
            "/messages",
            "{\"audience\":"
                + audience
                + ",\"content\":"
                + content
                + ",\"delivery\":"
                + delivery
                + "}");
    assertThat(accepted.status()).as(accepted.toString()).isEqualTo(202);
    return accepted.text("id");
  }

  JsonNode counts(String id) throws Exception {
    return api.call("GET", "/messages/" + id, "").body().path("counts");
  }

  /// The number of attempts in the timeline of a message to one device.
  int attempts(String id) throws Exception {
    return api.call("GET", "/messages/" + id + "/deliveries", "")
        .body()
        .path("data")
        .path(0)
        .path("attempts")
        .size();
  }

  void delivered(String id) {
    Eventually.within(
        PATIENCE,
        () -> assertThat(counts(id).path("delivered").asInt()).as(() -> timeline(id)).isOne());
  }

  String timeline(String id) {
    try {
      return api.call("GET", "/messages/" + id + "/deliveries", "").body().toString();
    } catch (Exception e) {
      return e.toString();
    }
  }

  @Override
  public void close() {
    simulators.close();
    api.close();
    platform.close();
  }
}
