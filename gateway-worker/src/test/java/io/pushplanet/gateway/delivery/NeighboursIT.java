package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.statistics.StatisticsWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/// What an error or an unreadable item does to the other messages of its batch.
class NeighboursIT extends DeliveryScene {
  private final ApnsForTests faulty = new ApnsForTests();
  private final DeliveryForTests atApple = delivery(faulty);

  /// Accepts every token but "bug", for which it throws, as it does for the app "broken".
  private static final class ApnsForTests implements Provider {
    final Queue<String> sent = new ConcurrentLinkedQueue<>();
    volatile boolean repaired;

    @Override
    public Channel channel() {
      return Channel.APNS;
    }

    @Override
    public Optional<DeliveryOutcome> putOff(Push push) {
      if (push.app().value().equals("broken")) {
        throw new NoClassDefFoundError("io/pushplanet/gateway/Gone");
      }
      return Optional.empty();
    }

    @Override
    public DeliveryOutcome send(Push push, Recipient recipient) {
      String device = recipient.device().value();
      sent.add(device);
      if (device.equals("bug") && !repaired) {
        throw new IllegalStateException("a bug");
      }
      if (device.equals("gone")) {
        throw new NoClassDefFoundError("io/pushplanet/gateway/Gone");
      }
      return new DeliveryOutcome.Accepted(200, "", "id-of-" + device);
    }
  }

  @Test
  void a_message_that_meets_a_bug_affects_no_other_message() throws Exception {
    byte[] batch =
        batch(aPush(clock).toApns("bug", "aa").toApns("d2", "bb").toApns("gone", "cc").build());

    atApple.deliver(Channel.APNS, batch, false, Ticket.ofNoOrder());

    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(DeliveryEvent.Ended::state)
        .containsExactly(DeliveryState.DELIVERED);
    assertThat(servers.sql().queryForList("SELECT reason FROM later", String.class))
        .containsExactly("internal_error", "internal_error");
  }

  @Test
  void an_error_before_a_messages_turn_repeats_no_other_message() throws Exception {
    byte[] batch =
        batch(
            aPush(clock).toApns("d1", "aa").build(),
            aPush(clock).from("broken").toApns("d2", "bb").build());

    atApple.deliver(Channel.APNS, batch, false, Ticket.ofNoOrder());

    assertThat(faulty.sent).containsExactlyInAnyOrder("d1", "d2");
    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(DeliveryEvent.Ended::state)
        .containsExactly(DeliveryState.DELIVERED, DeliveryState.DELIVERED);
  }

  @Test
  void an_unreadable_push_takes_no_other_push_to_the_dead_letters() {
    byte[] rubbish = "{\"id\":7}".getBytes(StandardCharsets.UTF_8);
    byte[] batch =
        WireForm.join(
            List.of(
                WireForm.write(aPush(clock).from("a").toApns("d1", "aa").build()),
                rubbish,
                WireForm.write(aPush(clock).from("b").toApns("d2", "bb").build())));

    List<DeadItem> dead = dead(batch);

    assertThat(faulty.sent).containsExactlyInAnyOrder("d1", "d2");
    assertThat(dead).hasSize(1);
    assertThat(dead.getFirst().batch()).isEqualTo(WireForm.join(List.of(rubbish)));
    assertThat(dead.getFirst().reason()).contains("Push");
  }

  @Test
  void a_message_that_meets_a_bug_again_and_again_becomes_a_dead_letter() throws Exception {
    Push push = servers.registered(aPush(clock).toApns("bug", "aa").toApns("d2", "bb").build());
    byte[] batch = batch(push);
    for (int tries = 1; tries < DeliveryForTests.MAX_ERRORS; tries++) {
      atApple.deliver(Channel.APNS, batch, false, Ticket.ofNoOrder());
      batch = later();
    }

    List<DeadItem> dead = dead(batch);

    writeWhatWasTold();
    assertThat(dead).hasSize(1);
    assertThat(dead.getFirst().reason())
        .isEqualTo("internal_error: java.lang.IllegalStateException: a bug");
    assertThat(WireForm.readBatch(dead.getFirst().batch(), Push.class).getFirst().recipients())
        .extracting(recipient -> recipient.device().value())
        .containsExactly("bug");
    assertThat(delivered(push, "bug"))
        .containsEntry("state", "failed")
        .containsEntry("reason", "internal_error");
    assertThat(delivered(push, "bug").get("attempts").toString())
        .contains("kept in the dead letters after 3 errors; an operator may replay it");
    assertThat(counts(push)).isEqualTo("2 recipients, 1 delivered, 1 failed");

    faulty.repaired = true;
    atApple.deliver(Channel.APNS, dead.getFirst().batch(), false, Ticket.ofNoOrder());
    writeWhatWasTold();
    atApple.deliver(Channel.APNS, dead.getFirst().batch(), false, Ticket.ofNoOrder());

    assertThat(faulty.sent).containsExactlyInAnyOrder("bug", "bug", "bug", "bug", "d2");
    assertThat(delivered(push, "bug")).containsEntry("state", "delivered");
    assertThat(counts(push)).isEqualTo("2 recipients, 2 delivered, 0 failed");
  }

  /// The dead letters of a batch.
  private List<DeadItem> dead(byte[] batch) {
    return atApple.deliver(Channel.APNS, batch, false, Ticket.ofNoOrder());
  }

  /// Takes out the messages in `later`.
  private byte[] later() {
    String waits = servers.sql().queryForObject("SELECT pushes FROM later", String.class);
    servers.sql().update("DELETE FROM later");
    return waits.getBytes(StandardCharsets.UTF_8);
  }

  private void writeWhatWasTold() throws Exception {
    new StatisticsWriter(servers.database())
        .write(servers.drain(Topology.EVENTS, DeliveryEvent.class));
  }

  private Map<String, Object> delivered(Push push, String device) {
    return servers
        .sql()
        .queryForMap(
            "SELECT state, reason, attempts FROM deliveries WHERE message_id = ? AND device_id = ?",
            push.id().value(),
            device);
  }

  private String counts(Push push) {
    return servers
        .sql()
        .queryForObject(
            "SELECT CONCAT(recipients, ' recipients, ', delivered, ' delivered, ', failed, ' failed')"
                + " FROM messages WHERE id = ?",
            String.class,
            push.id().value());
  }
}
