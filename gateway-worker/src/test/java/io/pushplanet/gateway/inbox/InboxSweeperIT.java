package io.pushplanet.gateway.inbox;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.RealServers;
import java.sql.Timestamp;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InboxSweeperIT {
  private final RealServers servers = RealServers.start();
  private final MutableClock clock = new MutableClock(Instant.parse("2026-11-21T10:00:00Z"));

  @BeforeEach
  void empty() {
    servers.sql().update("DELETE FROM inbox");
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void a_message_that_waited_too_long_in_an_inbox_expires() throws Exception {
    Push old = aPush(clock).toMqtt("d1").build();
    Push young = aPush(clock).toMqtt("d2").build();
    park(old, "d1", clock.instant());
    park(young, "d2", clock.instant().plusSeconds(60));

    assertThat(new InboxSweeper(servers.database(), servers.lanes(), clock).sweep()).isEqualTo(1);

    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class))
        .singleElement()
        .isInstanceOfSatisfying(
            DeliveryEvent.Ended.class,
            ended -> {
              assertThat(ended.message()).isEqualTo(old.id());
              assertThat(ended.state()).isEqualTo(DeliveryState.EXPIRED);
            });
    assertThat(servers.sql().queryForList("SELECT device_id FROM inbox", String.class))
        .containsExactly("d2");
  }

  @Test
  void a_sweep_reads_by_index() {
    assertThat(
            servers
                .sql()
                .queryForList(
                    "EXPLAIN FORMAT=TRADITIONAL " + InboxSweeper.EXPIRED,
                    Timestamp.from(clock.instant()),
                    10))
        .allSatisfy(step -> assertThat(step.get("key")).isEqualTo("inbox_by_expiry"));
  }

  private void park(Push push, String device, Instant expiresAt) {
    servers
        .sql()
        .update(
            "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at) VALUES (?, ?, ?, ?, '{}', NOW(), ?)",
            push.app().value(),
            device,
            push.id().value(),
            push.id().value(),
            Timestamp.from(expiresAt));
  }
}
