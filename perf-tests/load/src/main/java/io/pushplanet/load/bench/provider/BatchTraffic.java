package io.pushplanet.load.bench.provider;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.load.client.HttpAnswer;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Clients that send notifications of 1 KB, device after device. Thread-safe.
final class BatchTraffic {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);
  private static final String TEXT = "x".repeat(850);

  /// The contents of a request.
  enum Shape {
    /// One message for one device.
    SINGLE("single", 1, 64, "messages"),

    /// Different messages, one for each device.
    MESSAGES("batches of 100 messages", 100, 8, "messages:batch"),

    /// One message for many devices, named one by one.
    DEVICES("one message to 100 devices", 100, 8, "messages");

    private final String words;
    private final int notifications;
    private final int clients;
    private final String resource;

    Shape(String words, int notifications, int clients, String resource) {
      this.words = words;
      this.notifications = notifications;
      this.clients = clients;
      this.resource = resource;
    }

    String words() {
      return words;
    }

    int notifications() {
      return notifications;
    }
  }

  private final Target target;
  private final List<DeviceId> devices;
  private final Shape shape;
  private final AtomicLong sent = new AtomicLong();
  private final LongAdder accepted = new LongAdder();
  private final LongAdder refused = new LongAdder();

  BatchTraffic(Target target, List<DeviceId> devices, Shape shape) {
    this.target = target;
    this.devices = List.copyOf(devices);
    this.shape = shape;
  }

  /// Notifications.
  long accepted() {
    return accepted.sum();
  }

  long refused() {
    return refused.sum();
  }

  /// Runs until the gate ends all clients, which ask it before each request.
  void run(Traffic.Gate gate) {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < shape.clients; i++) {
        executor.execute(() -> client(gate));
      }
    }
  }

  private void client(Traffic.Gate gate) {
    try (var connection = new HttpConnection(target.dispatcherUrl(), ANSWER_WITHIN)) {
      while (gate.next()) {
        int taken = send(connection);
        accepted.add(taken);
        refused.add(shape.notifications - taken);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// @return how many of the request's notifications were accepted
  private int send(HttpConnection connection) {
    byte[] request =
        HttpConnection.request(
            "POST",
            target.dispatcherUrl(),
            "/v1/apps/" + target.app().value() + "/" + shape.resource,
            target.apiKey().reveal(),
            body().getBytes(StandardCharsets.US_ASCII));
    try {
      HttpAnswer answer = connection.exchange(request);
      return switch (answer.status()) {
        case 202 -> shape.notifications;
        case 207 -> acceptedOf(answer);
        default -> 0;
      };
    } catch (IOException e) {
      return 0;
    }
  }

  private static int acceptedOf(HttpAnswer some) {
    int accepted = 0;
    for (var result : WireForm.mapper().readTree(some.body()).path("results")) {
      accepted += result.path("status").asInt() == 202 ? 1 : 0;
    }
    return accepted;
  }

  private String body() {
    return switch (shape) {
      case SINGLE -> message("\"device\":" + nextDevice());
      case MESSAGES ->
          IntStream.range(0, shape.notifications)
              .mapToObj(i -> message("\"device\":" + nextDevice()))
              .collect(Collectors.joining(",", "{\"messages\":[", "]}"));
      case DEVICES ->
          message(
              IntStream.range(0, shape.notifications)
                  .mapToObj(i -> nextDevice())
                  .collect(Collectors.joining(",", "\"devices\":[", "]")));
    };
  }

  private String nextDevice() {
    return '"' + devices.get((int) (sent.getAndIncrement() % devices.size())).value() + '"';
  }

  private static String message(String audience) {
    return "{\"audience\":{"
        + audience
        + "},\"content\":{\"title\":\"Shipped\",\"body\":\""
        + TEXT
        + "\"},\"delivery\":{\"route\":\"vendor\",\"ttl\":\"PT1H\"}}";
  }
}
