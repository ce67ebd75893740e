package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.http2.HeldAnswers;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.tls.Authority;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A worker's lane from its queue to Apple, with answers that take long: 20,000 a second over a
/// round trip of 150 ms are 3,000 under way at once.
class LongLineIT {
  private static final int MAX_IN_FLIGHT = 4_096;
  private static final int MANY = 3_000;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Clock CLOCK = Clock.systemUTC();
  private static final String HELD = "aaaa";
  private static final DeliveryOptions NORMAL =
      new DeliveryOptions(
          Route.VENDOR, Duration.ofHours(1), Urgency.NORMAL, null, Duration.ofSeconds(5));

  private final List<Push> pushes = new ArrayList<>();
  private final List<String> delivered = new ArrayList<>();
  private @TempDir Path state;
  private HeldAnswers apple;
  private ProviderWorker worker;
  private QueueConsumer lanes;

  @BeforeEach
  void start() throws Exception {
    apple = new HeldAnswers(Authority.in(state.resolve("simulators"), CLOCK), HELD);
    ProviderPlatform platform =
        ProviderPlatform.start(
            state.resolve("simulators"),
            "--gateway.apns.production-endpoint=https://localhost:" + apple.port());
    worker =
        new ProviderWorker(
            platform, CLOCK, MAX_IN_FLIGHT, io.pushplanet.common.delivery.Channel.APNS);
    for (String app : List.of("far", "beside")) {
      platform.uploadKey(
          app,
          ApnsKey.issue("LONGLINE0" + app.length(), "KEY0000001", List.of(ProviderPlatform.BUNDLE)),
          "production");
      Push first = push(app, "first", "ee");
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(
                      platform
                          .provider(io.pushplanet.common.delivery.Channel.APNS)
                          .send(first, first.recipients().getFirst()))
                  .isInstanceOf(Accepted.class));
    }
    lanes = worker.normalLanes();
  }

  @AfterEach
  void stop() {
    apple.release();
    lanes.stop();
    worker.close();
    apple.close();
  }

  private static Push push(String app, String device, String token) {
    return aPush(CLOCK).from(app).delivered(NORMAL).toApns(device, token).build();
  }

  @Test
  void single_pushes_of_one_app_fill_a_long_line_and_hold_up_no_other_app() throws Exception {
    for (int i = 0; i < MANY; i++) {
      pushes.add(push("far", "d" + i, HELD + "%08x".formatted(i)));
    }
    publishOneByOne();

    lanes.start();

    // All requests but those that proved a connection, each alone on it.
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(apple.held())
                .isGreaterThan(2_000)
                .isGreaterThanOrEqualTo(MANY - apple.connections()));
    pushes.add(push("beside", "other", "bb"));
    publishOneByOne();
    Eventually.within(PATIENCE, () -> assertThat(delivered()).contains("other"));
    assertThat(apple.held()).isGreaterThan(2_000);
    apple.release();

    Eventually.within(
        PATIENCE,
        () -> {
          apple.release();
          assertThat(delivered()).hasSize(MANY + 1).doesNotHaveDuplicates();
        });
  }

  /// Publishes like a dispatcher with little to do: each push in a message of its own.
  private void publishOneByOne() throws Exception {
    String lane = Topology.lane(io.pushplanet.common.delivery.Channel.APNS, Priority.NORMAL);
    try (Connection connection = worker.servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      for (Push push : pushes) {
        channel.basicPublish(
            "",
            lane,
            MessageProperties.MINIMAL_PERSISTENT_BASIC,
            WireForm.join(List.of(WireForm.write(push))));
      }
      channel.waitForConfirmsOrDie(TimeUnit.SECONDS.toMillis(60));
    }
    pushes.clear();
  }

  private List<String> delivered() throws Exception {
    worker.servers.drain(Topology.EVENTS, DeliveryEvent.class).stream()
        .filter(DeliveryEvent.Ended.class::isInstance)
        .map(DeliveryEvent.Ended.class::cast)
        .filter(ended -> ended.state() == DeliveryState.DELIVERED)
        .forEach(ended -> delivered.add(ended.device().value()));
    return delivered;
  }
}
