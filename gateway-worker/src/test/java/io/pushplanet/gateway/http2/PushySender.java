package io.pushplanet.gateway.http2;

import com.eatthepath.pushy.apns.ApnsClient;
import com.eatthepath.pushy.apns.ApnsClientBuilder;
import com.eatthepath.pushy.apns.DeliveryPriority;
import com.eatthepath.pushy.apns.PushType;
import com.eatthepath.pushy.apns.auth.ApnsSigningKey;
import com.eatthepath.pushy.apns.util.SimpleApnsPushNotification;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.tls.Authority;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.function.LongSupplier;

/// pushy (https://github.com/jchambers/pushy) as its users call it: one thread that sends, and a
/// semaphore.
final class PushySender implements NotificationSender {
  static final String NAME = "pushy";

  private static final String TEAM = "TEAM123456";
  private static final String KEY = "KEY1234567";
  private static final Instant EXPIRES = Instant.ofEpochSecond(1_800_000_000);

  private final ApnsClient client;

  PushySender(Authority authority, int port, int connections) {
    ApnsKey.Issued key = ApnsKey.issue(TEAM, KEY, List.of(OurSender.TOPIC));
    try {
      client =
          new ApnsClientBuilder()
              .setApnsServer("localhost", port)
              .setTrustedServerCertificateChain(authority.pem().toFile())
              .setConcurrentConnections(connections)
              .setSigningKey(
                  ApnsSigningKey.loadFromInputStream(
                      new ByteArrayInputStream(key.p8().getBytes(StandardCharsets.US_ASCII)),
                      TEAM,
                      KEY))
              .build();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void keepSending(int inFlight, LongSupplier next, Ended ended) {
    String payload = new String(OurSender.payload(), StandardCharsets.US_ASCII);
    Semaphore room = new Semaphore(inFlight);
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          for (long n = next.getAsLong(); n >= 0; n = next.getAsLong()) {
            room.acquireUninterruptibly();
            long began = System.nanoTime();
            long number = n;
            var _ =
                client
                    .sendNotification(
                        new SimpleApnsPushNotification(
                            NotificationSender.token(n),
                            OurSender.TOPIC,
                            payload,
                            EXPIRES,
                            DeliveryPriority.IMMEDIATE,
                            PushType.ALERT,
                            null,
                            new UUID(n, n)))
                    .whenComplete((response, failure) -> {
                      ended.ended(number, began, failure == null && response.isAccepted());
                      room.release();
                    });
          }
        });
  }

  @Override
  public void close() {
    var _ = client.close();
  }
}
