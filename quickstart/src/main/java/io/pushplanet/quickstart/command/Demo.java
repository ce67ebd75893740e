package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.Addresses;
import io.pushplanet.quickstart.platform.Rest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/// `./pushplanet demo`: six devices, one for each channel, a message to each, and the outcomes.
final class Demo {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final List<String> DEVICES =
      List.of(
          "demo-sensor",
          "demo-phone",
          "demo-android",
          "demo-iphone",
          "demo-huawei",
          "demo-browser");
  private static final Duration LOOK = Duration.ofMillis(200);
  private static final Patience USUAL =
      new Patience(Duration.ofSeconds(3), Duration.ofSeconds(90), System.out::println);

  private final Rest api;
  private final Rest simulators;
  private final Addresses addresses;
  private final Patience patience;
  private final String devices;
  private final List<Sent> sent = new ArrayList<>();
  private final Set<Sent> undelivered = new LinkedHashSet<>();

  /// @param patience with each message, and in the end with all messages still under way
  Demo(Rest api, Rest simulators, Addresses addresses, Patience patience) {
    this.api = api;
    this.simulators = simulators;
    this.addresses = addresses;
    this.patience = patience;
    this.devices = "/v1/apps/" + addresses.app() + "/devices/";
  }

  /// @param message its id
  record Sent(String device, String message) {}

  static ExitCode run(Path root, List<String> arguments) {
    Options options = Options.parse(arguments, Options.Names.STATE);
    Path state = PushPlanet.state(root, options);
    Addresses addresses = PushPlanet.addresses(root, state);
    try (var api = new Rest(addresses.dispatcherUrl(), addresses.apiKey());
        var simulators = new Rest(addresses.simulatorsUrl(), "")) {
      Set<Sent> undelivered = new Demo(api, simulators, addresses, USUAL).show();
      if (undelivered.isEmpty()) {
        return ExitCode.OK;
      }
      System.err.println(advice(undelivered.iterator().next(), addresses, root, state));
      return ExitCode.FAILED;
    }
  }

  /// Advice about a message that was not delivered.
  static String advice(Sent undelivered, Addresses addresses, Path root, Path state) {
    return """
    pushplanet: not everything was delivered. Look at ./pushplanet status%s, at the timeline of what %s did not get \
    (%s/messages/%s), and at the logs in %s\
    """
        .formatted(
            PushPlanet.stateOption(root, state),
            undelivered.device(),
            addresses.dashboardUrl(),
            undelivered.message(),
            state.resolve("logs"));
  }

  /// @return the messages that were not delivered, or not in time
  Set<Sent> show() {
    JsonNode sensor = register("demo-sensor", "iot", JSON.createObjectNode().put("mqtt", true));
    JsonNode phone =
        register(
            "demo-phone",
            "android",
            JSON.createObjectNode()
                .put("mqtt", true)
                .set("fcm", token("demo-phone-fcm-" + "x".repeat(140))));
    register(
        "demo-android",
        "android",
        JSON.createObjectNode().set("fcm", token("demo-android-fcm-" + "x".repeat(140))));
    register(
        "demo-iphone",
        "ios",
        JSON.createObjectNode()
            .set("apns", token("d3".repeat(32)).put("environment", "production")));
    register(
        "demo-huawei",
        "android",
        JSON.createObjectNode().set("hms", token("demo-huawei-hms-" + "x".repeat(100))));
    register(
        "demo-browser",
        "web",
        JSON.createObjectNode()
            .set("webpush", simulators.post("/webpush/subscriptions", JSON.createObjectNode())));

    try (DemoDevice connected = DemoDevice.connect(sensor)) {
      say("demo-sensor is connected by MQTT; sending to it");
      if (arrives(connected, send("demo-sensor", "Over MQTT", "You are connected"))) {
        connected.opened();
      }
    }
    say("demo-phone is away and has an FCM token: the message takes Google's way");
    send("demo-phone", "Over FCM", "You were away");
    try (DemoDevice connected = DemoDevice.connect(phone)) {
      say("demo-phone is back: the next one takes MQTT");
      arrives(connected, send("demo-phone", "Over MQTT again", "You are back"));
    }
    say(
        "demo-android knows FCM only, demo-iphone APNs only, demo-huawei HMS only, demo-browser Web Push only");
    send("demo-android", "Over FCM", "Order 77 is on its way");
    send("demo-iphone", "Over APNs", "Order 77 is on its way");
    send("demo-huawei", "Over HMS", "Order 77 is on its way");
    send("demo-browser", "Over Web Push", "Order 77 is on its way");
    say("demo-sensor is away: its message waits in the inbox until it comes back");
    Sent parked = send("demo-sensor", "From the inbox", "You were away");
    try (DemoDevice back = DemoDevice.connect(sensor)) {
      arrives(back, parked);
    }
    say("");
    settle();
    DEVICES.forEach(this::showTimeline);
    say("The same in the dashboard: " + addresses.dashboardUrl());
    return undelivered;
  }

  private JsonNode register(String device, String platform, JsonNode channels) {
    ObjectNode body = JSON.createObjectNode().put("platform", platform).put("user", "demo-user");
    body.set("channels", channels);
    JsonNode answer = api.put(devices + device, body);
    say("registered " + device + " (" + platform + ")");
    return answer;
  }

  private Sent send(String device, String title, String text) {
    ObjectNode message = JSON.createObjectNode();
    message.putObject("audience").put("device", device);
    message.putObject("content").put("title", title).put("body", text);
    message.putObject("delivery").put("ttl", "PT1H").put("priority", "high");
    JsonNode answer = api.post("/v1/apps/" + addresses.app() + "/messages", message);
    Sent one = new Sent(device, answer.path("id").asString());
    sent.add(one);
    return one;
  }

  private boolean arrives(DemoDevice device, Sent one) {
    UUID id = UUID.fromString(one.message());
    boolean arrived = patience.await(one::device, within -> device.awaitMessage(id, within));
    if (!arrived) {
      undelivered.add(one);
    }
    say(
        arrived
            ? "  arrived: " + id
            : "  DID NOT ARRIVE within " + patience.atMost().toSeconds() + " s: " + id);
    return arrived;
  }

  /// Waits until every message has an outcome, good or bad.
  private void settle() {
    Set<String> open = new LinkedHashSet<>(DEVICES);
    patience.await(
        () -> String.join(", ", open),
        within -> {
          long deadlineNanos = System.nanoTime() + within.toNanos();
          while (true) {
            open.removeIf(this::isSettled);
            if (open.isEmpty() || System.nanoTime() - deadlineNanos > 0) {
              return open.isEmpty();
            }
            LockSupport.parkNanos(LOOK.toNanos());
          }
        });
  }

  private boolean isSettled(String device) {
    List<JsonNode> deliveries = deliveries(device);
    return sentTo(device).stream().noneMatch(one -> state(of(one, deliveries)).equals("queued"));
  }

  private void showTimeline(String device) {
    List<JsonNode> deliveries = deliveries(device);
    say(device);
    for (Sent one : sentTo(device)) {
      JsonNode delivery = of(one, deliveries);
      say(
          "  %s  %-9s %-8s %s"
              .formatted(
                  one.message(),
                  state(delivery),
                  delivery.path("channel").asString("-"),
                  delivery.path("reason").asString("")));
      for (JsonNode attempt : delivery.path("attempts")) {
        say("      " + attempt);
      }
      if (!state(delivery).equals("delivered")) {
        undelivered.add(one);
      }
    }
  }

  /// The newest messages to the device; some may be of an earlier demo.
  private List<JsonNode> deliveries(String device) {
    var deliveries = new ArrayList<JsonNode>();
    api.get(devices + device + "/deliveries?limit=5").path("data").forEach(deliveries::add);
    return deliveries;
  }

  private List<Sent> sentTo(String device) {
    return sent.stream().filter(one -> one.device().equals(device)).toList();
  }

  /// A missing node until the message's row is written.
  private static JsonNode of(Sent one, List<JsonNode> deliveries) {
    return deliveries.stream()
        .filter(delivery -> delivery.path("message").asString().equals(one.message()))
        .findFirst()
        .orElse(MissingNode.getInstance());
  }

  private static String state(JsonNode delivery) {
    return delivery.path("state").asString("queued");
  }

  private static ObjectNode token(String token) {
    return JSON.createObjectNode().put("token", token);
  }

  private void say(String line) {
    patience.progress().tell(line);
  }
}
