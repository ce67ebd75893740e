package io.pushplanet.gateway.http2;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.simulators.tls.Authority;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/// Our connections as the gateway uses them: a virtual thread for each notification under way.
final class OurSender implements NotificationSender {
  static final String NAME = "ours";
  static final String TOPIC = "com.example.shop";

  /// As long as a signed one; the server does not look at it.
  static final String AUTHORIZATION = "bearer " + "j".repeat(230);

  private static final int UNPOOLED = 200;

  private final ProviderConnections connections;
  private final ConnectionTarget target;
  private final boolean pooled;
  private final LongFunction<ProviderRequest> requests;

  /// To APNs.
  ///
  /// @param perCredential 0 = a connection for each notification
  OurSender(Authority authority, int port, int perCredential, int inFlight) {
    this(Channel.APNS, toApns(), authority, port, perCredential, inFlight);
  }

  /// @param requests makes the request of each number
  OurSender(
      Channel channel,
      LongFunction<ProviderRequest> requests,
      Authority authority,
      int port,
      int perCredential,
      int inFlight) {
    this.requests = requests;
    this.pooled = perCredential > 0;
    int most = pooled ? perCredential : UNPOOLED;
    // A tenth is kept for priority `high`.
    int streams = pooled ? inFlight * 10 / 9 / most + 2 : 1;
    connections =
        new ProviderConnections(
            channel,
            new ConnectionSettings(
                most,
                streams,
                most,
                Duration.ofSeconds(30),
                Duration.ofSeconds(10),
                Duration.ofMinutes(30),
                Duration.ofMinutes(1),
                Duration.ofSeconds(3)),
            Clock.systemUTC(),
            new SimpleMeterRegistry());
    target =
        new ConnectionTarget(
            "TEAM123456/KEY1234567",
            URI.create("https://localhost:" + port),
            Trust.with("authority", authority.pem()).context());
  }

  static byte[] payload() {
    String frame = "{\"aps\":{\"alert\":\"\"}}";
    String alert = "x".repeat(SenderProgram.PAYLOAD_BYTES - frame.length());
    return frame.replace("\"\"", '"' + alert + '"').getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void keepSending(int inFlight, LongSupplier next, Ended ended) {
    for (int i = 0; i < inFlight; i++) {
      var _ =
          Thread.startVirtualThread(() -> {
            for (long n = next.getAsLong(); n >= 0; n = next.getAsLong()) {
              long began = System.nanoTime();
              Reply reply = connections.send(target, requests.apply(n), _ -> !pooled);
              ended.ended(n, began, reply instanceof Answered answered && answered.status() == 200);
            }
          });
    }
  }

  private static LongFunction<ProviderRequest> toApns() {
    byte[] payload = payload();
    return n -> request(n, payload);
  }

  private static ProviderRequest request(long n, byte[] payload) {
    return new ProviderRequest(
        Priority.NORMAL,
        "/3/device/" + NotificationSender.token(n),
        List.of(
            Field.of("apns-topic", TOPIC),
            Field.of("apns-push-type", "alert"),
            Field.of("apns-priority", "10"),
            Field.of("apns-expiration", "1800000000"),
            Field.of("apns-id", new UUID(n, n).toString()),
            Field.secret("authorization", AUTHORIZATION)),
        payload,
        null);
  }

  @Override
  public void close() {
    connections.close();
  }
}
