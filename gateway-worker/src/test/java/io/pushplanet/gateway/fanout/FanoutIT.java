package io.pushplanet.gateway.fanout;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.FanoutOrder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.fcm.FcmQuota;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FanoutIT {
  private static final String APP = "fanout-it";
  private static final int DEVICES = 1_250;
  private static final int PAGE = 600;
  private static final String ORDERS = Topology.fanout(Priority.HIGH);
  private static final Duration SOON = Duration.ofSeconds(60);

  private final RealServers servers = RealServers.start();
  private final RedisClient client = RedisClient.create(servers.services().redis().toString());
  private final RedisLink redis = RedisLink.open(client);
  private final FanoutSteps steps = new FanoutSteps(redis, Clock.systemUTC());
  private final LaneDepths depths = new LaneDepths(servers.connections());
  private final Fanout fanout =
      new Fanout(
          servers.database(),
          servers.sessions(),
          steps,
          servers.lanes(),
          Clock.systemUTC(),
          new SimpleMeterRegistry(),
          PAGE);

  @BeforeEach
  void register_devices() {
    for (String table : List.of("devices", "channel_tokens", "device_topics", "messages")) {
      servers.sql().update("DELETE FROM " + table + " WHERE app_id = ?", APP);
    }
    List<Object[]> devices = new ArrayList<>();
    List<Object[]> tokens = new ArrayList<>();
    List<Object[]> topics = new ArrayList<>();
    for (int number = 0; number < DEVICES; number++) {
      String device = "d%05d".formatted(number);
      boolean mqtt = number % 2 == 0;
      devices.add(new Object[] {APP, device, "android", mqtt});
      if (!mqtt && number % 10 != 1) {
        tokens.add(new Object[] {APP, device, "fcm", "token-" + number});
      }
      if (number % 3 == 0) {
        topics.add(new Object[] {APP, "news", device});
      }
    }
    servers
        .sql()
        .batchUpdate(
            "INSERT INTO devices (app_id, device_id, platform, mqtt, created_at, updated_at, seen_at) VALUES (?, ?, ?, ?, NOW(), NOW(), NOW())",
            devices);
    servers
        .sql()
        .batchUpdate(
            "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at) VALUES (?, ?, ?, ?, 'token', '', NOW())",
            tokens);
    servers
        .sql()
        .batchUpdate(
            "INSERT INTO device_topics (app_id, topic, device_id) VALUES (?, ?, ?)", topics);
  }

  @AfterEach
  void close() {
    depths.close();
    redis.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    servers.close();
  }

  @Test
  void every_device_of_an_app_gets_into_one_lane_or_is_told_why_not() throws Exception {
    Push push = aPush(Clock.systemUTC()).from(APP).build();

    int steps = expandAll(new FanoutOrder(push, new Audience.All(), null));

    List<String> mqtt = devices(servers.drain("push.mqtt.high", Push.class));
    List<String> fcm = devices(servers.drain("push.fcm.high", Push.class));
    List<DeliveryEvent> events = servers.drain(Topology.EVENTS, DeliveryEvent.class);
    assertThat(steps).isEqualTo(3);
    assertThat(mqtt).hasSize(625).doesNotHaveDuplicates();
    assertThat(fcm).hasSize(500).doesNotHaveDuplicates();
    assertThat(events.stream().filter(DeliveryEvent.Ended.class::isInstance)).hasSize(125);
    assertThat(
            events.stream()
                .filter(DeliveryEvent.Expanded.class::isInstance)
                .flatMap(event -> ((DeliveryEvent.Expanded) event).recipients().stream()))
        .hasSize(DEVICES)
        .doesNotHaveDuplicates();
    assertThat(expanded(events))
        .filteredOn(DeliveryEvent.Expanded::last)
        .as("told with the only chunk of the last page")
        .singleElement()
        .satisfies(end -> assertThat(end.recipients()).hasSize(DEVICES - 2 * PAGE));
  }

  @Test
  void that_there_are_no_more_is_told_behind_a_last_page_of_several_chunks() throws Exception {
    servers.sql().update("DELETE FROM devices WHERE app_id = ? AND device_id >= 'd00590'", APP);

    int steps =
        expandAll(
            new FanoutOrder(aPush(Clock.systemUTC()).from(APP).build(), new Audience.All(), null));

    List<DeliveryEvent.Expanded> told =
        expanded(servers.drain(Topology.EVENTS, DeliveryEvent.class));
    assertThat(steps).isEqualTo(1);
    assertThat(told).extracting(event -> event.recipients().size()).containsExactly(500, 90, 0);
    assertThat(told).extracting(DeliveryEvent.Expanded::last).containsExactly(false, false, true);
  }

  @Test
  void a_step_tells_how_much_it_brought_to_which_lanes() {
    FanoutOrder order =
        new FanoutOrder(aPush(Clock.systemUTC()).from(APP).build(), new Audience.All(), null);

    assertThat(fanout.expand(order, false, PAGE))
        .containsOnly(entry("push.mqtt.high", 300), entry("push.fcm.high", 240));
  }

  /// Most of a larger step's messages would find no room in the project's quota.
  @Test
  void a_step_over_fcm_alone_is_as_large_as_its_quota_allows() throws Exception {
    servers.sql().update("UPDATE devices SET mqtt = FALSE WHERE app_id = ?", APP);
    FanoutOrder order =
        new FanoutOrder(aPush(Clock.systemUTC()).from(APP).build(), new Audience.All(), null);

    assertThat(fanout.expand(order, false, 500)).containsOnly(entry("push.fcm.high", 200));
    List<FanoutOrder> rest = servers.drain(ORDERS, FanoutOrder.class);
    while (!rest.isEmpty()) {
      fanout.expand(rest.getFirst(), false, 500);
      rest = servers.drain(ORDERS, FanoutOrder.class);
    }

    assertThat(devices(servers.drain("push.fcm.high", Push.class)))
        .hasSize(500)
        .doesNotHaveDuplicates();
    assertThat(expanded(servers.drain(Topology.EVENTS, DeliveryEvent.class)))
        .extracting(event -> event.recipients().size())
        .containsExactly(500, 500, 250);
  }

  @Test
  void a_quota_does_not_shorten_a_step_that_has_devices_of_other_channels() {
    FanoutOrder order =
        new FanoutOrder(aPush(Clock.systemUTC()).from(APP).build(), new Audience.All(), null);

    assertThat(fanout.expand(order, false, 500))
        .containsOnly(entry("push.mqtt.high", 300), entry("push.fcm.high", 240));
  }

  @Test
  void an_audience_without_anyone_has_an_end_too() throws Exception {
    expandAll(
        new FanoutOrder(
            aPush(Clock.systemUTC()).from(APP).build(), new Audience.Topic("nobody"), null));

    assertThat(expanded(servers.drain(Topology.EVENTS, DeliveryEvent.class)))
        .singleElement()
        .satisfies(end -> assertThat(end.last()).isTrue());
  }

  @Test
  void no_chunk_is_longer_than_500() throws Exception {
    expandAll(
        new FanoutOrder(aPush(Clock.systemUTC()).from(APP).build(), new Audience.All(), null));

    assertThat(servers.drain("push.mqtt.high", Push.class))
        .allSatisfy(
            chunk -> assertThat(chunk.recipients()).hasSizeLessThanOrEqualTo(Push.MAX_RECIPIENTS));
  }

  @Test
  void a_topic_reaches_its_subscribers_only() throws Exception {
    expandAll(
        new FanoutOrder(
            aPush(Clock.systemUTC()).from(APP).build(), new Audience.Topic("news"), null));

    assertThat(devices(servers.drain("push.mqtt.high", Push.class)))
        .hasSize(209)
        .allSatisfy(device -> assertThat(Integer.parseInt(device.substring(1)) % 6).isZero());
  }

  @Test
  void a_connected_device_that_has_a_vendor_too_goes_over_mqtt() throws Exception {
    servers
        .sql()
        .update("UPDATE devices SET mqtt = TRUE WHERE app_id = ? AND device_id = 'd00003'", APP);
    servers.connect(APP, "d00003", new NodeId("node"));

    expandAll(
        new FanoutOrder(aPush(Clock.systemUTC()).from(APP).build(), new Audience.All(), null));

    assertThat(devices(servers.drain("push.mqtt.high", Push.class))).contains("d00003");
  }

  @Test
  void a_cancelled_message_goes_no_further() throws Exception {
    Push push = aPush(Clock.systemUTC()).from(APP).build();
    servers.cancel(push);

    int steps = expandAll(new FanoutOrder(push, new Audience.All(), null));

    assertThat(steps).isEqualTo(1);
    assertThat(servers.drain("push.mqtt.high", Push.class)).isEmpty();
  }

  @Test
  void a_step_without_anyone_wanted_goes_on_with_the_next_page() throws Exception {
    var audience =
        new Audience.And(
            List.of(
                new Audience.Not(new Audience.Topic("news")),
                new Audience.Devices(List.of(new DeviceId("d01249"), new DeviceId("d00003")))));

    expandAll(new FanoutOrder(aPush(Clock.systemUTC()).from(APP).build(), audience, null));

    assertThat(devices(servers.drain("push.fcm.high", Push.class))).containsExactly("d01249");
  }

  /// A worker is killed after it has published the order for the rest and before it acknowledges
  /// its own.
  @Test
  void a_repeated_step_repeats_its_page_and_no_device_behind_it() throws Exception {
    FanoutOrder order =
        new FanoutOrder(aPush(Clock.systemUTC()).from(APP).build(), new Audience.All(), null);
    fanout.expand(order, false, PAGE);
    List<FanoutOrder> waiting = new ArrayList<>(servers.drain(ORDERS, FanoutOrder.class));
    steps.take(order, true, step -> fanout.expand(step, true, PAGE));
    waiting.addAll(servers.drain(ORDERS, FanoutOrder.class));
    assertThat(waiting).hasSize(2).containsOnly(waiting.getFirst());

    takeAll(waiting);

    List<Push> pushes = servers.drain("push.mqtt.high", Push.class);
    List<Push> again = pushes.stream().filter(Push::cameBack).toList();
    assertThat(devices(again)).as("those that may be out already").hasSize(PAGE / 2);
    List<String> mqtt = devices(pushes);
    assertThat(mqtt).hasSize(625 + PAGE / 2);
    assertThat(mqtt.stream().filter(device -> device.compareTo("d00600") >= 0))
        .hasSize(325)
        .doesNotHaveDuplicates();
  }

  /// Otherwise the orders for the rest differ, and both reach all devices behind the page.
  @Test
  void a_repeated_step_whose_page_has_changed_ends_it_where_it_ended_before() throws Exception {
    FanoutOrder order =
        new FanoutOrder(aPush(Clock.systemUTC()).from(APP).build(), new Audience.All(), null);
    fanout.expand(order, false, PAGE);
    List<FanoutOrder> waiting = new ArrayList<>(servers.drain(ORDERS, FanoutOrder.class));
    registerMqtt("d00100-new");
    registerMqtt("d00200-new");

    steps.take(order, true, step -> fanout.expand(step, true, PAGE));
    waiting.addAll(servers.drain(ORDERS, FanoutOrder.class));
    assertThat(waiting).hasSize(2).containsOnly(waiting.getFirst());
    servers.sql().update("DELETE FROM devices WHERE app_id = ? AND device_id < 'd00010'", APP);
    fanout.expand(order, true, PAGE);
    waiting.addAll(servers.drain(ORDERS, FanoutOrder.class));
    assertThat(waiting).hasSize(3).containsOnly(waiting.getFirst());
    List<String> firstPage = devices(servers.drain("push.mqtt.high", Push.class));
    takeAll(waiting);

    assertThat(firstPage)
        .hasSize(PAGE / 2 + (PAGE / 2 + 2) + (PAGE / 2 + 2 - 5))
        .contains("d00100-new", "d00200-new", "d00598");
    assertThat(devices(servers.drain("push.mqtt.high", Push.class)))
        .hasSize(325)
        .doesNotHaveDuplicates()
        .allSatisfy(device -> assertThat(device).isGreaterThanOrEqualTo("d00600"));
  }

  private void registerMqtt(String device) {
    servers
        .sql()
        .update(
            "INSERT INTO devices (app_id, device_id, platform, mqtt, created_at, updated_at, seen_at) VALUES (?, ?, 'android', TRUE, NOW(), NOW(), NOW())",
            APP,
            device);
  }

  private void takeAll(List<FanoutOrder> waiting) throws Exception {
    while (!waiting.isEmpty()) {
      steps.take(waiting.removeFirst(), false, step -> fanout.expand(step, false, PAGE));
      waiting.addAll(servers.drain(ORDERS, FanoutOrder.class));
    }
  }

  @Test
  void a_high_order_does_not_wait_behind_a_backlog_of_normal_ones() throws Exception {
    for (String device : List.of("d00000", "d00002")) {
      servers
          .sql()
          .update(
              "INSERT INTO device_topics (app_id, topic, device_id) VALUES (?, 'few', ?)",
              APP,
              device);
    }
    List<byte[]> backlog =
        IntStream.range(0, 500).mapToObj(_ -> WireForm.write(toFew(Urgency.NORMAL))).toList();
    FanoutOrder high = toFew(Urgency.HIGH);
    servers.lanes().publishAndWait(Topology.fanout(Priority.NORMAL), backlog);
    servers.lanes().publishAndWait(Topology.fanout(Priority.HIGH), List.of(WireForm.write(high)));

    List<Push> out = whatConsumersSend(501);

    assertThat(out).extracting(Push::id).doesNotHaveDuplicates();
    assertThat(out.subList(0, 250)).extracting(Push::id).contains(high.push().id());
  }

  private static FanoutOrder toFew(Urgency urgency) {
    DeliveryOptions options =
        new DeliveryOptions(Route.AUTO, Duration.ofHours(1), urgency, null, Duration.ofSeconds(5));
    return new FanoutOrder(
        aPush(Clock.systemUTC()).from(APP).delivered(options).build(),
        new Audience.Topic("few"),
        null);
  }

  /// Lets a worker take all orders, and listens at the lanes to MQTT.
  private List<Push> whatConsumersSend(int pushes) throws Exception {
    List<Push> out = Collections.synchronizedList(new ArrayList<>());
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      for (Priority priority : Priority.values()) {
        channel.basicConsume(
            Topology.lane(io.pushplanet.common.delivery.Channel.MQTT, priority),
            true,
            (_, message) -> out.addAll(WireForm.readBatch(message.getBody(), Push.class)),
            _ -> {});
      }
      QueueConsumer consumer = consumer(new SimpleMeterRegistry());
      consumer.start();
      try {
        Eventually.within(SOON, () -> assertThat(out).hasSize(pushes));
      } finally {
        consumer.stop();
      }
    }
    return List.copyOf(out);
  }

  private QueueConsumer consumer(MeterRegistry meters) {
    FanoutConfiguration wiring = new FanoutConfiguration();
    return wiring.fanoutConsumer(
        servers.connections(),
        wiring.fanoutOrders(
            fanout,
            steps,
            depths,
            wiring.quotaQueues(servers.database(), new FcmQuota(600_000), Clock.systemUTC()),
            servers.lanes(),
            new FanoutSettings(2),
            meters),
        servers.lanes(),
        new DeadLetters(servers.connections(), Clock.systemUTC(), meters),
        new SecureRandom(),
        meters);
  }

  private static List<DeliveryEvent.Expanded> expanded(List<DeliveryEvent> events) {
    return events.stream()
        .filter(DeliveryEvent.Expanded.class::isInstance)
        .map(DeliveryEvent.Expanded.class::cast)
        .toList();
  }

  private int expandAll(FanoutOrder order) throws Exception {
    fanout.expand(order, false, PAGE);
    int steps = 1;
    List<FanoutOrder> rest = servers.drain(ORDERS, FanoutOrder.class);
    while (!rest.isEmpty()) {
      fanout.expand(rest.getFirst(), false, PAGE);
      steps++;
      rest = servers.drain(ORDERS, FanoutOrder.class);
    }
    return steps;
  }

  private static List<String> devices(List<Push> chunks) {
    return chunks.stream()
        .flatMap(chunk -> chunk.recipients().stream())
        .map(Recipient::device)
        .map(DeviceId::value)
        .toList();
  }
}
