package io.pushplanet.load.node;

import io.pushplanet.load.client.HttpConnection;
import java.net.URI;
import java.time.Duration;

/// Looks at how a node admits devices: a fraction of a millisecond of the node's time for each look.
/// Not thread-safe.
public final class AdmissionLook implements AutoCloseable {
  private static final String ACCEPTED = "cm_transport_accepted_total";
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
    double admitted =
        Meters.over(connection, management, ACCEPTED).sum(ACCEPTED, "verdict=\"admitted\"");
    long answered = System.nanoTime();
    return new Seen(asked, answered, (long) admitted, AcceptLine.waiting(port));
  }

  @Override
  public void close() {
    connection.close();
  }
}
