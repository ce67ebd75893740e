package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
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
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.schedule.PeriodicTask;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.script.Scenario;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// An app with a slow provider beside one with a fast provider, in one lane of 64 places.
class SlowProviderIT {
  private static final int PLACES = 64;
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final Clock CLOCK = Clock.systemUTC();
  private static final String LANE = Topology.lane(Channel.APNS, Priority.NORMAL);
  private static final DeliveryOptions NORMAL =
      new DeliveryOptions(
          Route.VENDOR, Duration.ofHours(2), Urgency.NORMAL, null, Duration.ofSeconds(5));

  /// Twelve a second. Half of the places can carry that with answers of 2.5 s, and an eighth
  /// cannot.
  private static final int MANY = 160;

  private static final Duration EACH = Duration.ofMillis(83);
  private static final int BESIDE = 20;

  /// One at a time they would take minutes.
  private static final int BEFORE = 500;

  private final List<DeliveryEvent> told = new ArrayList<>();
  private List<PeriodicTask> tasks = List.of();
  private @TempDir Path state;
  private ProviderPlatform platform;
  private ProviderWorker worker;
  private QueueConsumer lanes;

  @BeforeEach
  void start() throws Exception {
    platform = ProviderPlatform.start(state.resolve("simulators"));
    worker = new ProviderWorker(platform, CLOCK, PLACES, Channel.APNS);
    worker.servers.sql().update("DELETE FROM later");
    for (String app : List.of("slow", "beside")) {
      platform.uploadKey(
          app,
          ApnsKey.issue(
              "SLOWAPP00" + app.length(),
              "SLOWKEY00" + app.length(),
              List.of(ProviderPlatform.BUNDLE)),
          "production");
      Push first = push(app, "first", 0);
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(platform.provider(Channel.APNS).send(first, first.recipients().getFirst()))
                  .isInstanceOf(Accepted.class));
    }
    lanes = worker.normalLanes();
  }

  @AfterEach
  void stop() {
    tasks.forEach(PeriodicTask::stop);
    lanes.stop();
    worker.close();
  }

  private void begin() {
    tasks = worker.tasks();
    lanes.start();
    tasks.forEach(PeriodicTask::start);
  }

  private static Push push(String app, String device, int token) {
    return aPush(CLOCK)
        .from(app)
        .delivered(NORMAL)
        .toApns(device, "%064x".formatted(token))
        .build();
  }

  private List<Push> registered(String app, int number) {
    return IntStream.range(0, number)
        .mapToObj(i -> push(app, app + i, app.hashCode() + i))
        .map(worker.servers::registered)
        .toList();
  }

  @Test
  void messages_of_a_slow_provider_go_when_it_answers_and_hold_up_no_app() throws Exception {
    List<Push> slow = registered("slow", MANY);
    List<Push> beside = registered("beside", BESIDE);
    StringBuilder scenario = new StringBuilder("apns answer delay 2500ms\n");
    for (Push push : beside) {
      scenario.append("apns token ").append(push.recipients().getFirst().apns().token());
      scenario.append(" answer\n");
    }
    Scenario.parse(scenario.toString()).forEach(platform.simulators.script()::add);

    begin();
    try (ScheduledExecutorService callers = Executors.newScheduledThreadPool(1)) {
      List<Push> others = new ArrayList<>(beside);
      for (int i = 0; i < MANY; i++) {
        Push one = slow.get(i);
        boolean both = i % (MANY / BESIDE) == MANY / BESIDE - 1;
        var _ =
            callers.schedule(
                () -> {
                  send(one);
                  if (both) {
                    send(others.removeFirst());
                  }
                },
                i * EACH.toMillis(),
                TimeUnit.MILLISECONDS);
      }
    }

    Eventually.within(
        PATIENCE, () -> assertThat(delivered()).hasSize(MANY + BESIDE).doesNotHaveDuplicates());
    assertThat(putOff("beside")).isEmpty();
    assertThat(delivered().getLast()).startsWith("slow");
    assertThat(putOff("slow")).hasSizeLessThan(MANY / 2);
    assertThat(waiting()).isZero();
  }

  private void send(Push push) {
    worker.servers.lanes().publishAndWait(LANE, List.of(WireForm.write(push)));
  }

  /// They were put off by a worker that is gone, and would come back by themselves in an hour.
  @Test
  void messages_from_before_a_start_go_as_fast_as_their_provider_answers() throws Exception {
    new LaterStore(worker.servers.database())
        .keep(
            registered("slow", BEFORE).stream()
                .map(push ->
                    new Later(
                        CLOCK.instant().plus(Duration.ofHours(1)),
                        LANE,
                        "provider_slow",
                        push.putOff()))
                .toList());

    begin();

    Eventually.within(
        PATIENCE, () -> assertThat(delivered()).hasSize(BEFORE).doesNotHaveDuplicates());
    assertThat(putOff("slow")).isEmpty();
    assertThat(waiting()).isZero();
  }

  private int waiting() {
    return worker.servers.sql().queryForObject("SELECT COUNT(*) FROM later", Integer.class);
  }

  private List<String> delivered() throws Exception {
    told.addAll(worker.servers.drain(Topology.EVENTS, DeliveryEvent.class));
    return told.stream()
        .filter(DeliveryEvent.Ended.class::isInstance)
        .map(DeliveryEvent.Ended.class::cast)
        .filter(ended -> ended.state() == DeliveryState.DELIVERED)
        .map(ended -> ended.device().value())
        .toList();
  }

  /// The devices of messages that found no place, once for each time.
  private List<String> putOff(String app) {
    return told.stream()
        .filter(DeliveryEvent.Attempted.class::isInstance)
        .map(DeliveryEvent.Attempted.class::cast)
        .filter(one -> one.app().value().equals(app))
        .filter(one -> "provider_slow".equals(one.attempt().reason()))
        .map(one -> one.device().value())
        .toList();
  }
}
