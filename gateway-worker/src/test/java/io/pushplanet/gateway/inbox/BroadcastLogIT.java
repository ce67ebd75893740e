package io.pushplanet.gateway.inbox;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.RealServers;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BroadcastLogIT {
  private static final String APP = "broadcast-log-it";

  private final MutableClock clock = new MutableClock(Instant.now().truncatedTo(ChronoUnit.MILLIS));
  private RealServers servers;
  private InboxStore inbox;
  private BroadcastSweeper sweeper;

  @BeforeEach
  void start() throws Exception {
    servers = new RealServers();
    for (String table :
        List.of(
            "inbox",
            "messages",
            "broadcasts",
            "broadcast_devices",
            "broadcast_positions",
            "broadcast_sequences")) {
      servers.sql().update("DELETE FROM " + table);
    }
    inbox = new InboxStore(servers.database(), servers.lanes(), clock);
    sweeper = new BroadcastSweeper(servers.database(), servers.lanes(), clock);
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void many_devices_share_a_list_and_a_payload_and_few_have_rows() {
    Push toMany = aPush(clock).from(APP).build();
    Push toFew = aPush(clock).from(APP).build();
    List<Parked> all = new ArrayList<>(parked(toMany, 2_000));
    all.addAll(parked(toFew, 3));
    parked(toFew, 3).forEach(few -> servers.register(toFew.app().value(), few.device().value()));

    inbox.park(all);

    assertThat(count("broadcasts")).isOne();
    assertThat(count("broadcast_devices")).isOne();
    assertThat(count("inbox")).isEqualTo(3);
    String devices =
        servers.sql().queryForObject("SELECT devices FROM broadcast_devices", String.class);
    assertThat(devices.split(" ")).hasSize(2_000).isSorted();
  }

  @Test
  void a_reader_that_sees_a_number_sees_all_smaller_ones() throws Exception {
    int workers = 6;
    int each = 30;
    try (ExecutorService executor = Executors.newFixedThreadPool(workers)) {
      List<Future<?>> parking = new ArrayList<>();
      for (int worker = 0; worker < workers; worker++) {
        parking.add(
            executor.submit(() -> {
              for (int push = 0; push < each; push++) {
                inbox.park(parked(aPush(clock).from(APP).build(), BroadcastLog.FEWEST));
              }
            }));
      }

      List<Long> seen = new ArrayList<>();
      boolean done = false;
      while (!done) {
        done = parking.stream().allMatch(Future::isDone);
        long last = seen.isEmpty() ? 0 : seen.getLast();
        seen.addAll(
            servers
                .sql()
                .queryForList(
                    "SELECT seq FROM broadcast_devices WHERE app_id = ? AND seq > ? ORDER BY seq",
                    Long.class,
                    APP,
                    last));
      }

      for (Future<?> some : parking) {
        some.get();
      }
      assertThat(seen)
          .containsExactlyElementsOf(
              IntStream.rangeClosed(1, workers * each).mapToObj(Long::valueOf).toList());
    }
  }

  @Test
  void a_broadcast_that_waited_too_long_expires_for_the_remaining_devices() throws Exception {
    Push push = aPush(clock).from(APP).build();
    inbox.park(parked(push, 40));
    servers
        .sql()
        .update(
            "INSERT INTO broadcast_positions (app_id, device_id, seq, moved_at) VALUES (?, 'd00007', 1, ?)",
            APP,
            Timestamp.from(clock.instant()));
    clock.advance(Duration.between(clock.instant(), push.expiresAt()).minusMillis(1));
    assertThat(sweeper.sweep()).isZero();

    clock.advance(Duration.ofMillis(2));
    Push younger = aPush(clock).from(APP).build();
    inbox.park(parked(younger, 40));
    assertThat(sweeper.sweep()).isOne();

    assertThat(ends())
        .hasSize(39)
        .allSatisfy(ended -> {
          assertThat(ended.message()).isEqualTo(push.id());
          assertThat(ended.state()).isEqualTo(DeliveryState.EXPIRED);
          assertThat(ended.device()).isNotEqualTo(new DeviceId("d00007"));
        });
    assertThat(servers.sql().queryForList("SELECT message_id FROM broadcasts", String.class))
        .containsExactly(younger.id().value());
  }

  @Test
  void a_cancelled_broadcast_ends_also_when_it_is_parked_afterwards() throws Exception {
    Push push = aPush(clock).from(APP).build();
    servers.cancel(push);

    inbox.park(parked(push, 40));
    sweeper.sweep();

    assertThat(ends())
        .hasSize(40)
        .extracting(DeliveryEvent.Ended::message, DeliveryEvent.Ended::state)
        .containsOnly(tuple(push.id(), DeliveryState.CANCELLED));
    assertThat(count("broadcasts") + count("broadcast_devices")).isZero();
  }

  @Test
  void positions_that_are_no_longer_needed_are_forgotten() {
    for (int days : List.of(1, 40)) {
      servers
          .sql()
          .update(
              "INSERT INTO broadcast_positions (app_id, device_id, seq, moved_at) VALUES (?, ?, 1, ?)",
              APP,
              "d" + days,
              Timestamp.from(clock.instant().minus(Duration.ofDays(days))));
    }

    sweeper.sweep();

    assertThat(
            servers.sql().queryForList("SELECT device_id FROM broadcast_positions", String.class))
        .containsExactly("d1");
  }

  private List<DeliveryEvent.Ended> ends() throws Exception {
    return servers.drain(Topology.EVENTS, DeliveryEvent.class).stream()
        .filter(DeliveryEvent.Ended.class::isInstance)
        .map(DeliveryEvent.Ended.class::cast)
        .toList();
  }

  private int count(String table) {
    Integer rows = servers.sql().queryForObject("SELECT COUNT(*) FROM " + table, Integer.class);
    return rows == null ? 0 : rows;
  }

  private static List<Parked> parked(Push push, int devices) {
    return IntStream.range(0, devices)
        .mapToObj(number -> new Parked(push, new DeviceId("d%05d".formatted(number))))
        .toList();
  }
}
