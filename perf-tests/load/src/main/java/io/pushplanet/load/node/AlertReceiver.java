package io.pushplanet.load.node;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/// The operators' receiver of alerts: takes what workers post to their webhook. Thread-safe.
public final class AlertReceiver implements AutoCloseable {
  private static final Duration LOOKS_EVERY = Duration.ofMillis(50);

  private final HttpServer server;
  private final Queue<Heard> heard = new ConcurrentLinkedQueue<>();

  private record Heard(long nanos, String text) {}

  private AlertReceiver(HttpServer server) {
    this.server = server;
  }

  /// Listens on a free port of this machine.
  public static AlertReceiver start() {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      AlertReceiver receiver = new AlertReceiver(server);
      server.createContext(
          "/",
          exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            receiver.heard.add(
                new Heard(System.nanoTime(), new String(body, StandardCharsets.UTF_8)));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
          });
      server.start();
      return receiver;
    } catch (IOException e) {
      throw new UncheckedIOException("no port to hear alerts on", e);
    }
  }

  /// For `gateway.alerts.webhook-url`.
  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/alerts";
  }

  /// Waits for the first alert since then with one of these kinds.
  ///
  /// @param sinceNanos of `System.nanoTime`
  /// @return when it came, of `System.nanoTime`; empty when none comes in time
  public OptionalLong await(long sinceNanos, Duration within, String... kinds) {
    do {
      for (Heard alert : heard) {
        for (String kind : kinds) {
          if (alert.nanos() - sinceNanos >= 0 && alert.text().contains('"' + kind + '"')) {
            return OptionalLong.of(alert.nanos());
          }
        }
      }
      LockSupport.parkNanos(LOOKS_EVERY.toNanos());
    } while (System.nanoTime() - sinceNanos < within.toNanos());
    return OptionalLong.empty();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
