package io.pushplanet.quickstart.platform;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// `./pushplanet demo`: six devices, one for each way a message can go, a message to each, and what became of it.
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
  private static final Duration DELIVERY_DEADLINE = Duration.ofSeconds(90);

  private final Rest api;
  private final Rest simulators;
  private final Addresses addresses;
  private final String devices;

  private Demo(Rest api, Rest simulators, Addresses addresses) {
    this.api = api;
    this.simulators = simulators;
    this.addresses = addresses;
    this.devices = "/v1/apps/" + addresses.app() + "/devices/";
  }

  static ExitCode run(Path root, List<String> arguments) {
    Options options = Options.parse(arguments, Options.Names.STATE);
    Addresses addresses = PushPlanet.addresses(PushPlanet.state(root, options));
    try (var api = new Rest(addresses.dispatcherUrl(), addresses.apiKey());
        var simulators = new Rest(addresses.simulatorsUrl(), "")) {
      return new Demo(api, simulators, addresses).show();
    }
  }

  private ExitCode show() {
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

    boolean good = true;
    try (DemoDevice connected = DemoDevice.connect(sensor)) {
      say("demo-sensor is connected by MQTT; sending to it");
      good &= arrives(connected, send("demo-sensor", "Over MQTT", "You are connected"));
      connected.opened();
    }
    say("demo-phone is away and has an FCM token: the message takes Google's way");
    send("demo-phone", "Over FCM", "You were away");
    try (DemoDevice connected = DemoDevice.connect(phone)) {
      say("demo-phone is back: the next one takes MQTT");
      good &= arrives(connected, send("demo-phone", "Over MQTT again", "You are back"));
    }
    say(
        "demo-android knows FCM only, demo-iphone APNs only, demo-huawei HMS only, demo-browser Web Push only");
    send("demo-android", "Over FCM", "Order 77 is on its way");
    send("demo-iphone", "Over APNs", "Order 77 is on its way");
    send("demo-huawei", "Over HMS", "Order 77 is on its way");
    send("demo-browser", "Over Web Push", "Order 77 is on its way");
    say("demo-sensor is away: its message waits in the inbox until it comes back");
    String parked = send("demo-sensor", "From the inbox", "You were away");
    try (DemoDevice back = DemoDevice.connect(sensor)) {
      good &= arrives(back, parked);
    }

    System.out.println();
    for (String device : DEVICES) {
      good &= showTimeline(device);
    }
    System.out.println("The same in the dashboard: " + addresses.dashboardUrl());
    return good ? ExitCode.OK : ExitCode.FAILED;
  }

  private JsonNode register(String device, String platform, JsonNode channels) {
    ObjectNode body = JSON.createObjectNode().put("platform", platform).put("user", "demo-user");
    body.set("channels", channels);
    JsonNode answer = api.put(devices + device, body);
    say("registered " + device + " (" + platform + ")");
    return answer;
  }

  private String send(String device, String title, String text) {
    ObjectNode message = JSON.createObjectNode();
    message.putObject("audience").put("device", device);
    message.putObject("content").put("title", title).put("body", text);
    message.putObject("delivery").put("ttl", "PT1H").put("priority", "high");
    return api.post("/v1/apps/" + addresses.app() + "/messages", message).path("id").asString();
  }

  private boolean arrives(DemoDevice device, String message) {
    boolean arrived = device.awaitMessage(UUID.fromString(message), DELIVERY_DEADLINE);
    say(
        arrived
            ? "  arrived: " + message
            : "  DID NOT ARRIVE within " + DELIVERY_DEADLINE.toSeconds() + " s: " + message);
    return arrived;
  }

  /// @return whether all deliveries of the device have come to a good end in time
  private boolean showTimeline(String device) {
    List<JsonNode> deliveries = settled(device);
    System.out.println(device);
    for (JsonNode delivery : deliveries) {
      System.out.printf(
          "  %s  %-9s %-8s %s%n",
          delivery.path("message").asString(delivery.path("id").asString("")),
          delivery.path("state").asString(),
          delivery.path("channel").asString("-"),
          delivery.path("reason").asString(""));
      for (JsonNode attempt : delivery.path("attempts")) {
        System.out.println("      " + attempt);
      }
    }
    return !deliveries.isEmpty()
        && deliveries.stream()
            .allMatch(delivery -> delivery.path("state").asString().equals("delivered"));
  }

  private List<JsonNode> settled(String device) {
    long deadlineNanos = System.nanoTime() + DELIVERY_DEADLINE.toNanos();
    while (true) {
      var deliveries = new ArrayList<JsonNode>();
      api.get(devices + device + "/deliveries?limit=5").path("data").forEach(deliveries::add);
      boolean settled =
          !deliveries.isEmpty()
              && deliveries.stream()
                  .noneMatch(delivery -> delivery.path("state").asString().equals("queued"));
      if (settled || System.nanoTime() > deadlineNanos) {
        return deliveries;
      }
      LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
    }
  }

  private static ObjectNode token(String token) {
    return JSON.createObjectNode().put("token", token);
  }

  private static void say(String line) {
    System.out.println(line);
  }
}
