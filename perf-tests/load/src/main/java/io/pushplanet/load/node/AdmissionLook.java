package io.pushplanet.load.node;

import io.pushplanet.load.client.HttpConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import tools.jackson.databind.json.JsonMapper;

/// Looks at how a node admits devices. Not thread-safe.
public final class AdmissionLook implements AutoCloseable {
  private static final byte[] NOTHING = {};

  // Reads this one meter. The Prometheus page asks all of them, also where it shows one.
  private static final String ADMITTED =
      "/actuator/metrics/cm.transport.accepted?tag=verdict:admitted";
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(20);

  private final URI management;
  private final int port;
  private final HttpConnection connection;

  /// One look.
  ///
  /// @param askedNanos the `System.nanoTime()` before the node counted
  /// @param answeredNanos and after it
  /// @param admitted connections so far, at all listeners
  /// @param waiting connections in the line before the devices' listener
  public record Seen(long askedNanos, long answeredNanos, long admitted, int waiting) {}

  AdmissionLook(URI management, int port) {
    this.management = management;
    this.port = port;
    this.connection = new HttpConnection(management, ANSWER_WITHIN);
  }

  public Seen look() {
    long asked = System.nanoTime();
    long admitted = admitted();
    long answered = System.nanoTime();
    return new Seen(asked, answered, admitted, AcceptLine.waiting(port));
  }

  private long admitted() {
    try {
      String meter =
          connection
              .exchange(HttpConnection.request("GET", management, ADMITTED, "", NOTHING))
              .text();
      return JsonMapper.shared().readTree(meter).at("/measurements/0/value").asLong();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the meters of " + management, e);
    }
  }

  @Override
  public void close() {
    connection.close();
  }
}
