package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.gateway.directory.DirectoryHealth;
import io.pushplanet.gateway.later.DueRows;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.order.Ticket;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Redis is away while messages for a connected device are tried, and comes back.
class DirectoryOutageIT extends NodeScene {
  private static final String LANE = "push.mqtt.high";

  /// A message that was tried so often waits for a minute or more.
  private static final int TRIES = 5;

  private final Returning client = new Returning();
  private RedisLink link;
  private DeliveryForTests worker;

  private final class Returning extends RedisClient {
    private volatile boolean away = true;

    @Override
    public StatefulRedisConnection<String, String> connect() {
      if (away) {
        throw new RedisConnectionException("Redis is away");
      }
      return connect(StringCodec.UTF8, RedisURI.create(servers.services().redis().toString()));
    }
  }

  @BeforeEach
  void redisIsAway() {
    servers
        .sql()
        .update(
            "INSERT IGNORE INTO devices (app_id, device_id, platform, mqtt, created_at, updated_at, seen_at)"
                + " VALUES (?, 'here', 'iot', TRUE, NOW(3), NOW(3), NOW(3))",
            APP);
    link = RedisLink.open(client);
    worker = deliveryAt(new SessionDirectory(link, clock));
  }

  @AfterEach
  void closeLink() {
    link.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  private void redisIsBack() {
    client.away = false;
    Eventually.within(PATIENCE, () -> assertThat(link.connected()).isTrue());
  }

  @Test
  void messages_come_back_in_their_order_once_redis_does() throws Exception {
    List<Push> pushes = inOrder(20);
    try (LogLines lines = new LogLines(DirectoryHealth.class)) {
      pushes.forEach(this::tried);
      for (int round = 0; round < 3; round++) {
        worker.lookForDirectory();
      }
      assertThat(due()).isZero();

      redisIsBack();
      worker.lookForDirectory();

      assertThat(due()).isEqualTo(20);
      assertThat(lines.said())
          .satisfiesExactly(
              away -> assertThat(away).startsWith("event=directory_away reason="),
              back -> assertThat(back).startsWith("event=directory_back failed_lookups=20"));
    }

    new DueRows(servers.database(), servers.lanes()::publishAndWait, clock).bringBack();
    List<Push> back = servers.drain(LANE, Push.class);
    assertThat(back).extracting(Push::id).isEqualTo(pushes.stream().map(Push::id).toList());

    connect("here");
    node.answer("here", Result.DELIVERED);
    worker.deliver(
        Channel.MQTT, DeliveryScene.batch(back.toArray(Push[]::new)), false, Ticket.ofNoOrder());
    assertThat(waiting()).isZero();
    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class))
        .filteredOn(DeliveryEvent.Ended.class::isInstance)
        .hasSize(20);
  }

  @Test
  void messages_keep_their_pauses_while_look_ups_fail_in_each_round() {
    Push push = inOrder(1).getFirst();
    tried(push);
    redisIsBack();

    worker.lookForDirectory();
    assertThat(due()).as("one has failed since the round before").isZero();
    worker.lookForDirectory();
    assertThat(due()).isOne();
  }

  @Test
  void messages_that_are_kept_after_the_return_come_back_as_well() {
    redisIsBack();
    worker.lookForDirectory();

    keep(inOrder(1).getFirst(), NodeDelivery.DIRECTORY_UNAVAILABLE);
    keep(inOrder(1).getFirst(), Outbox.DRAIN_FAILED);
    keep(inOrder(1).getFirst(), "another_reason");
    for (int round = 0; round < 20; round++) {
      worker.lookForDirectory();
    }

    assertThat(due()).isEqualTo(2);
  }

  @Test
  void a_message_is_tried_once_more_before_its_time_to_live_ends() {
    DeliveryOptions brief = DeliveryScene.options(Route.MQTT, Duration.ofSeconds(30), null);
    Push push = triedOften(aPush(clock).from(APP).delivered(brief).toMqtt("here").build());

    tried(push);

    Instant end = push.expiresAt();
    assertThat(
            count(
                "WHERE due_at BETWEEN ? AND ?",
                Timestamp.from(end.minusMillis(2_001)),
                Timestamp.from(end.minusSeconds(1))))
        .isOne();
  }

  /// The messages of one device, oldest first, each of another millisecond.
  private List<Push> inOrder(int number) {
    List<Push> pushes = new ArrayList<>();
    while (pushes.size() < number) {
      Push push = aPush(clock).from(APP).toMqtt("here").build();
      if (pushes.isEmpty() || push.id().time().isAfter(pushes.getLast().id().time())) {
        pushes.add(triedOften(push));
      }
    }
    return pushes;
  }

  private static Push triedOften(Push push) {
    Push tried = push;
    for (int i = 0; i < TRIES; i++) {
      tried = tried.retried();
    }
    return tried;
  }

  private void tried(Push push) {
    worker.deliver(Channel.MQTT, DeliveryScene.batch(push), false, Ticket.ofNoOrder());
  }

  private void keep(Push push, String reason) {
    new LaterStore(servers.database())
        .keep(List.of(new Later(clock.instant().plusSeconds(60), LANE, reason, push)));
  }

  private int due() {
    return count("WHERE due_at <= ?", Timestamp.from(clock.instant()));
  }

  private int waiting() {
    return count("");
  }

  private int count(String where, Object... values) {
    return servers
        .sql()
        .queryForObject("SELECT COUNT(*) FROM later " + where, Integer.class, values);
  }
}
