package io.pushplanet.simulators;

import static org.assertj.core.api.Assertions.assertThat;

import com.eatthepath.pushy.apns.ApnsClient;
import com.eatthepath.pushy.apns.ApnsClientBuilder;
import com.eatthepath.pushy.apns.DeliveryPriority;
import com.eatthepath.pushy.apns.PushNotificationResponse;
import com.eatthepath.pushy.apns.PushType;
import com.eatthepath.pushy.apns.auth.ApnsSigningKey;
import com.eatthepath.pushy.apns.util.SimpleApnsPushNotification;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2FrameLogger;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.logging.LogLevel;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.ScriptLine;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A widely used sender for Apple accepts the simulator as APNs.
class PushyCrossCheckTest {
  private static final String PAYLOAD = "{\"aps\":{\"alert\":\"hello\"}}";

  @TempDir Path state;

  @Test
  void pushy_sends_two_hundred_at_once_with_a_signing_key() throws Exception {
    ApnsKey.Issued key = ApnsKey.issue("TEAM123456", "KEY1234567", List.of("io.example.app"));
    try (Simulators simulators = Simulators.start(Options.in(state), Clock.systemUTC())) {
      simulators.apnsDirectory().register(key.key());
      long accepted = send(simulators, builder -> signing(builder, key));

      assertThat(accepted).as("%s", simulators.ledger().summary()).isEqualTo(200);
      assertThat(simulators.ledger().summary().values()).containsExactly(200L);
    }
  }

  @Test
  void pushy_sends_with_a_push_certificate() throws Exception {
    try (Simulators simulators = Simulators.start(Options.in(state), Clock.systemUTC())) {
      Path p12 = state.resolve("push.p12");
      Files.write(p12, simulators.authority().pushCertificate("io.example.app", "secret"));

      long accepted =
          send(simulators, builder -> builder.setClientCredentials(p12.toFile(), "secret"));

      assertThat(accepted).as("%s", simulators.ledger().summary()).isEqualTo(200);
    }
  }

  @Test
  void a_connection_has_one_stream_until_its_first_good_answer() throws Exception {
    ApnsKey.Issued key = ApnsKey.issue("TEAM123456", "KEY1234567", List.of("io.example.app"));
    List<Long> streams = new CopyOnWriteArrayList<>();
    Http2FrameLogger listener =
        new Http2FrameLogger(LogLevel.TRACE) {
          @Override
          public void logSettings(
              Direction direction, ChannelHandlerContext context, Http2Settings settings) {
            if (direction == Direction.INBOUND) {
              streams.add(settings.maxConcurrentStreams());
            }
          }
        };
    try (Simulators simulators = Simulators.start(Options.in(state), Clock.systemUTC())) {
      simulators.apnsDirectory().register(key.key());

      send(simulators, builder -> signing(builder, key).setFrameLogger(listener));

      assertThat(streams).containsExactly(1L, 1_000L);
    }
  }

  @Test
  void a_refused_stream_is_sent_again_by_pushy_and_counts_once() throws Exception {
    ApnsKey.Issued key = ApnsKey.issue("TEAM123456", "KEY1234567", List.of("io.example.app"));
    try (Simulators simulators = Simulators.start(Options.in(state), Clock.systemUTC())) {
      simulators.apnsDirectory().register(key.key());
      simulators
          .script()
          .add(new ScriptLine(Simulated.APNS, "", 10, 1, 100, Fate.of(Fate.Action.REFUSE)));

      long accepted = send(simulators, builder -> signing(builder, key));

      assertThat(accepted).isEqualTo(200);
      assertThat(simulators.ledger().summary().values()).containsExactlyInAnyOrder(200L, 1L);
    }
  }

  private static ApnsClientBuilder signing(ApnsClientBuilder builder, ApnsKey.Issued key)
      throws Exception {
    return builder.setSigningKey(
        ApnsSigningKey.loadFromInputStream(
            new ByteArrayInputStream(key.p8().getBytes(StandardCharsets.UTF_8)),
            key.key().teamId(),
            key.key().keyId()));
  }

  private interface Setup {
    ApnsClientBuilder apply(ApnsClientBuilder builder) throws Exception;
  }

  private static long send(Simulators simulators, Setup setup) throws Exception {
    ApnsClient client =
        setup
            .apply(
                new ApnsClientBuilder()
                    .setApnsServer("localhost", simulators.apns().port())
                    .setTrustedServerCertificateChain(simulators.authority().pem().toFile()))
            .build();
    try {
      List<CompletableFuture<PushNotificationResponse<SimpleApnsPushNotification>>> answers =
          new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        String token = "%064x".formatted(i);
        answers.add(
            client.sendNotification(
                new SimpleApnsPushNotification(
                    token,
                    "io.example.app",
                    PAYLOAD,
                    Instant.now().plusSeconds(60),
                    DeliveryPriority.IMMEDIATE,
                    PushType.ALERT)));
      }
      long accepted = 0;
      for (var answer : answers) {
        accepted += answer.get(60, TimeUnit.SECONDS).isAccepted() ? 1 : 0;
      }
      return accepted;
    } finally {
      client.close().get(60, TimeUnit.SECONDS);
    }
  }
}
