package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/// Messages that must wait while MySQL is away, and the others of their batch.
class OwedIT extends NodeScene {
  private static final Duration A_MINUTE = Duration.ofMinutes(1);

  private final ScriptedProvider fcm = new ScriptedProvider(Channel.FCM);
  private final Away away = new Away();
  private DeliveryForTests withoutMysql;

  /// A MySQL that cannot be reached, and how often it was tried.
  private static final class Away extends DriverManagerDataSource {
    final AtomicInteger tries = new AtomicInteger();

    Away() {
      super("jdbc:mysql://127.0.0.1:1/away");
    }

    @Override
    public Connection getConnection() throws SQLException {
      tries.incrementAndGet();
      return super.getConnection();
    }
  }

  @Override
  Provider[] providers() {
    return new Provider[] {fcm};
  }

  @BeforeEach
  void loseMysql() {
    withoutMysql = deliveryAt(away);
  }

  @Test
  void a_message_that_is_put_off_is_owed_and_the_others_are_sent_once() throws Exception {
    fcm.answers.put("busy", new DeliveryOutcome.TryAgain(503, "UNAVAILABLE", A_MINUTE, true));
    Push push = aPush(clock).from(APP).toFcm("taken", "t1").toFcm("busy", "t2").build();

    deliverWithoutMysql(Channel.FCM, push);
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);
    delivery.writeOwed(batch(owed));

    assertThat(fcm.sent).containsExactlyInAnyOrder("taken", "busy");
    assertThat(ended(DeliveryState.DELIVERED)).containsExactly("taken");
    assertThat(servers.sql().queryForList("SELECT lane, reason, pushes FROM later"))
        .singleElement()
        .satisfies(row -> {
          assertThat(row)
              .containsEntry("lane", "push.fcm.high")
              .containsEntry("reason", "UNAVAILABLE");
          assertThat(row.get("pushes").toString())
              .contains("\"busy\"", "\"attempt\":1")
              .doesNotContain("\"taken\"");
        });
    assertThat(meters.counter("pushplanet.delivery.owed").count()).isEqualTo(1);
  }

  /// It may be cancelled, and its device may have another user by now.
  @Test
  void a_message_that_comes_back_from_later_is_owed_and_not_sent() throws Exception {
    Push first = aPush(clock).from(APP).toFcm("first", "t1").build();
    Push fallback = aPush(clock).from(APP).toFcm("fallback", "t2").build();
    Push back = aPush(clock).from(APP).toFcm("back", "t3").build();
    Push cancelled = aPush(clock).from(APP).toFcm("cancelled", "t4").build();
    servers.cancel(cancelled);

    deliverWithoutMysql(
        Channel.FCM,
        first,
        fallback.fallenBackFrom(Channel.MQTT),
        back.retried(),
        cancelled.putOff());
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);
    delivery.writeOwed(batch(owed));

    assertThat(fcm.sent).containsExactlyInAnyOrder("first", "fallback");
    assertThat(servers.sql().queryForList("SELECT pushes FROM later", String.class))
        .singleElement()
        .satisfies(waiting -> assertThat(waiting).contains("\"back\"", "\"attempt\":1"));
    assertThat(ended(DeliveryState.CANCELLED)).containsExactly("cancelled");
  }

  @Test
  void a_parked_message_is_in_the_inbox_once_mysql_is_back() throws Exception {
    connect("here");
    node.answer("here", Result.DELIVERED);
    Push here = aPush(clock).from(APP).toMqtt("here").build();
    Push gone = aPush(clock).from(APP).toMqtt("gone").build();

    deliverWithoutMysql(Channel.MQTT, here, gone);
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);
    connect("gone");
    delivery.writeOwed(batch(owed));

    assertThat(node.messages()).containsExactly(here.id());
    assertThat(ended(DeliveryState.DELIVERED)).containsExactly("here");
    assertThat(inbox()).containsExactly("gone");
    // It connected while its message was not in the inbox yet.
    assertThat(node.drained()).containsExactly(new DeviceId("gone"));
  }

  @Test
  void many_devices_of_one_message_are_owed_together() throws Exception {
    List<String> devices = IntStream.range(0, 40).mapToObj("d%02d"::formatted).toList();
    var push = aPush(clock).from(APP);
    devices.forEach(push::toMqtt);

    deliverWithoutMysql(Channel.MQTT, push.build());
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);
    delivery.writeOwed(batch(owed));

    assertThat(owed)
        .singleElement()
        .satisfies(one -> assertThat(one.push().recipients()).hasSize(devices.size()));
    assertThat(broadcasts()).isEqualTo(1);
  }

  /// A device that takes the message out of its inbox meanwhile would get it twice.
  @Test
  void where_mysql_goes_away_after_a_part_only_the_rest_is_owed() throws Exception {
    List<String> devices = IntStream.range(0, 40).mapToObj("part-%02d"::formatted).toList();
    var many = aPush(clock).from(APP);
    devices.forEach(many::toMqtt);
    Push single = aPush(clock).from(APP).toMqtt("rest").build();

    deliveryAt(mysqlThatGoesAfterABroadcast(() -> connect("part-07")))
        .deliver(
            Channel.MQTT, DeliveryScene.batch(many.build(), single), false, Ticket.ofNoOrder());
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);

    assertThat(owed)
        .singleElement()
        .satisfies(one -> assertThat(one.push().id()).isEqualTo(single.id()));
    assertThat(broadcasts()).isEqualTo(1);
    // It connected while its message was not in the inbox yet.
    assertThat(node.drained()).containsExactly(new DeviceId("part-07"));
  }

  @Test
  void a_message_for_a_user_is_not_parked_for_the_next_user() throws Exception {
    servers.sql().update("DELETE FROM devices WHERE app_id = ?", APP);
    Push push = aPush(clock).from(APP).forUser("u1").toMqtt("theirs").toMqtt("d1").build();
    for (String device : List.of("theirs", "d1")) {
      servers.register(APP, device, "fcm", "token", "token-of-" + device, clock.instant());
    }
    deliverWithoutMysql(Channel.MQTT, push);
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);
    servers.drain(Topology.EVENTS, DeliveryEvent.class);
    servers
        .sql()
        .update(
            "UPDATE devices SET user_id = IF(device_id = 'd1', 'u2', 'u1') WHERE app_id = ?", APP);

    delivery.writeOwed(batch(owed));

    assertThat(inbox()).containsExactly("theirs");
    assertThat(ended(DeliveryState.FAILED)).containsExactly("d1");
  }

  @Test
  void while_mysql_is_away_owed_messages_stay_with_the_broker_and_one_caller_tries()
      throws Exception {
    for (String device : List.of("d1", "d2", "d3")) {
      deliverWithoutMysql(Channel.MQTT, aPush(clock).from(APP).toMqtt(device).build());
    }
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);

    assertThat(owed).hasSize(3);
    assertThatThrownBy(() -> withoutMysql.writeOwed(batch(owed)))
        .hasMessageContaining("not tried just now");
    assertThat(away.tries).hasValue(1);
    assertThatThrownBy(() -> deliveryAt(away).writeOwed(batch(owed)))
        .hasStackTraceContaining("CommunicationsException");
    assertThat(inbox()).isEmpty();
  }

  @Test
  void an_owed_message_that_was_cancelled_ends_and_is_not_written() throws Exception {
    Push push = aPush(clock).from(APP).toMqtt("d1").build();
    deliverWithoutMysql(Channel.MQTT, push);
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);
    servers.drain(Topology.EVENTS, DeliveryEvent.class);
    servers.cancel(push);

    delivery.writeOwed(batch(owed));

    assertThat(inbox()).isEmpty();
    assertThat(ended(DeliveryState.CANCELLED)).containsExactly("d1");
  }

  /// Near the end of an outage an owed message is tried while deliveries still do without MySQL.
  @Test
  void an_owed_message_that_was_cancelled_ends_while_deliveries_do_not_ask() throws Exception {
    Push push = aPush(clock).from(APP).toMqtt("d1").build();
    deliverWithoutMysql(Channel.MQTT, push);
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);
    AtomicBoolean gone = new AtomicBoolean(true);
    DeliveryForTests atTheEnd = deliveryAt(mysqlWhile(gone));
    Push again = aPush(clock).from(APP).toFcm("taken", "t1").build();
    atTheEnd.deliver(Channel.FCM, DeliveryScene.batch(again), true, Ticket.ofNoOrder());
    gone.set(false);
    servers.drain(Topology.EVENTS, DeliveryEvent.class);
    servers.cancel(push);

    atTheEnd.writeOwed(batch(owed));

    assertThat(inbox()).isEmpty();
    assertThat(ended(DeliveryState.CANCELLED)).containsExactly("d1");
  }

  @Test
  void an_owed_message_stays_owed_without_an_answer_and_the_next_is_not_tried() throws Exception {
    deliverWithoutMysql(Channel.MQTT, aPush(clock).from(APP).toMqtt("d1").build());
    List<Owed.Item> owed = servers.drain(Topology.OWED, Owed.Item.class);
    DeliveryForTests another = deliveryAt(away);

    assertThatThrownBy(() -> another.writeOwed(batch(owed)))
        .hasStackTraceContaining("CommunicationsException");
    assertThatThrownBy(() -> another.writeOwed(batch(owed)))
        .hasMessageContaining("not tried just now");
    assertThat(inbox()).isEmpty();
  }

  private DelegatingDataSource mysqlWhile(AtomicBoolean gone) {
    return new DelegatingDataSource(servers.database()) {
      @Override
      public Connection getConnection() throws SQLException {
        return gone.get() ? away.getConnection() : super.getConnection();
      }
    };
  }

  private DelegatingDataSource mysqlThatGoesAfterABroadcast(Runnable meanwhile) {
    // For the check whether the message was cancelled.
    AtomicInteger left = new AtomicInteger(1);
    return new DelegatingDataSource(servers.database()) {
      @Override
      public Connection getConnection() throws SQLException {
        if (broadcasts() == 0 || left.getAndDecrement() > 0) {
          return super.getConnection();
        }
        meanwhile.run();
        return away.getConnection();
      }
    };
  }

  private int broadcasts() {
    Integer found = servers.sql().queryForObject("SELECT COUNT(*) FROM broadcasts", Integer.class);
    return found == null ? 0 : found;
  }

  private void deliverWithoutMysql(Channel channel, Push... pushes) {
    withoutMysql.deliver(channel, DeliveryScene.batch(pushes), false, Ticket.ofNoOrder());
  }

  private static byte[] batch(List<Owed.Item> owed) {
    return WireForm.join(owed.stream().map(WireForm::write).toList());
  }

  private List<String> ended(DeliveryState state) throws Exception {
    List<String> devices = new ArrayList<>();
    for (DeliveryEvent event : servers.drain(Topology.EVENTS, DeliveryEvent.class)) {
      if (event instanceof DeliveryEvent.Ended ended && ended.state() == state) {
        devices.add(ended.device().value());
      }
    }
    return devices;
  }
}
