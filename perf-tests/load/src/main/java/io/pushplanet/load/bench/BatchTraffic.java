package io.pushplanet.load.bench;

import io.pushplanet.common.device.DeviceId;
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

/// Clients that send messages with their content of 1 KB, one in a request or many in a batch, device after device.
/// Thread-safe.
final class BatchTraffic {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);
  private static final String TEXT = "x".repeat(850);

  private final Target target;
  private final List<DeviceId> devices;
  private final int perRequest;
  private final AtomicLong sent = new AtomicLong();
  private final LongAdder accepted = new LongAdder();
  private final LongAdder refused = new LongAdder();

  BatchTraffic(Target target, List<DeviceId> devices, int perRequest) {
    this.target = target;
    this.devices = List.copyOf(devices);
    this.perRequest = perRequest;
  }

  long accepted() {
    return accepted.sum();
  }

  /// Messages of requests that were not accepted whole.
  long refused() {
    return refused.sum();
  }

  /// Runs `clients` until the gate ends them all; it is asked before each request.
  void run(int clients, Traffic.Gate gate) {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < clients; i++) {
        executor.execute(() -> client(gate));
      }
    }
  }

  private void client(Traffic.Gate gate) {
    try (var connection = new HttpConnection(target.dispatcherUrl(), ANSWER_WITHIN)) {
      while (gate.next()) {
        (isAccepted(connection) ? accepted : refused).add(perRequest);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isAccepted(HttpConnection connection) {
    String path = "/v1/apps/" + target.app().value() + "/messages";
    byte[] request =
        HttpConnection.request(
            "POST",
            target.dispatcherUrl(),
            perRequest == 1 ? path : path + ":batch",
            target.apiKey().reveal(),
            body().getBytes(StandardCharsets.US_ASCII));
    try {
      HttpAnswer answer = connection.exchange(request);
      return answer.status() == 202;
    } catch (IOException e) {
      return false;
    }
  }

  private String body() {
    if (perRequest == 1) {
      return message();
    }
    StringBuilder body = new StringBuilder("{\"messages\":[");
    for (int i = 0; i < perRequest; i++) {
      body.append(i == 0 ? "" : ",").append(message());
    }
    return body.append("]}").toString();
  }

  private String message() {
    DeviceId device = devices.get((int) (sent.getAndIncrement() % devices.size()));
    return "{\"audience\":{\"device\":\""
        + device.value()
        + "\"},\"content\":{\"title\":\"Shipped\",\"body\":\""
        + TEXT
        + "\"},\"delivery\":{\"route\":\"vendor\",\"ttl\":\"PT1H\"}}";
  }
}
