package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodePass;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A node is drained while messages flow: every device reaches the other node, and every message
/// arrives in order.
class DrainIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String LOGIN =
      "Basic "
          + Base64.getEncoder()
              .encodeToString(
                  ("gateway:" + TestNode.GATEWAY_PASSWORD).getBytes(StandardCharsets.UTF_8));

  private final HttpClient http = HttpClient.newHttpClient();
  private TestNode leaving;

  @BeforeEach
  void start() {
    leaving =
        TestNode.start(
            "--cm.node-id=drained-" + System.nanoTime(),
            "--cm.device-host=127.0.0.1",
            "--cm.drain.notice=0s",
            "--cm.drain.settle=60s",
            "--cm.directory.heartbeat-every=200ms");
  }

  @AfterEach
  void stop() {
    leaving.close();
  }

  @Test
  void everyone_moves_and_nothing_is_lost_or_overtaken() throws Exception {
    int devices = 60;
    int messages = 25;
    try (var staying = neighbour();
        var fromHere = new TestGateway(leaving, "gw-drain-here");
        var fromThere = new TestGateway(staying, "gw-drain-there");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var fleet =
          IntStream.range(0, devices)
              .mapToObj(_ -> new MovingDevice(TestNode.newDevice(), messages))
              .toList();
      List<Future<?>> received = new ArrayList<>();
      for (var device : fleet) {
        device.connect(leaving.port("mqtt"));
        received.add(threads.submit(device::receiveAll));
      }
      List<Future<?>> sent = new ArrayList<>();
      for (var device : fleet) {
        sent.add(
            threads.submit(() -> {
              for (int number = 0; number < messages; number++) {
                send(device, number, staying, fromHere, fromThere);
              }
              return null;
            }));
      }
      Eventually.within(
          PATIENCE, () -> assertThat(fleet).anyMatch(device -> device.received.size() > 3));

      assertThat(post("?per-second=60", LOGIN).statusCode()).isEqualTo(202);

      for (var work : sent) {
        work.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      for (var work : received) {
        work.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      for (var device : fleet) {
        assertThat(new LinkedHashSet<>(device.received)).containsExactlyElementsOf(device.expected);
        assertThat(device.moved).as("told where to go").isTrue();
      }
      Eventually.within(
          PATIENCE, () -> assertThat(drain().path("state").stringValue()).isEqualTo("EMPTY"));
      assertThat(page(leaving).path("sessions").intValue()).isZero();
      var owners =
          staying
              .bean(SessionDirectory.class)
              .owners(fleet.stream().map(device -> device.key).toList());
      assertThat(owners.values())
          .hasSize(devices)
          .allMatch(owner -> owner.node().equals(staying.bean(NodeId.class)));
      fleet.forEach(MovingDevice::close);
    }
  }

  /// Sends like a gateway: to the node that has the device, until the message is delivered.
  private void send(
      MovingDevice device,
      int number,
      TestNode staying,
      TestGateway fromHere,
      TestGateway fromThere)
      throws Exception {
    var directory = staying.bean(SessionDirectory.class);
    var id = device.expected.get(number);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() < deadline) {
      var owner = new AtomicReference<SessionOwner>();
      Eventually.within(PATIENCE, () -> owner.set(directory.owner(device.key).orElseThrow()));
      var gateway = owner.get().node().equals(staying.bean(NodeId.class)) ? fromThere : fromHere;
      var outcome =
          gateway.deliver(device.key, id, "{\"n\":" + number + "}", Duration.ofSeconds(10));
      if (outcome.result() == Result.DELIVERED) {
        return;
      }
    }
    throw new AssertionError("message " + number + " was never delivered to " + device.key);
  }

  @Test
  void a_device_that_is_sent_away_may_acknowledge_what_it_has_and_gets_nothing_new()
      throws Exception {
    var device = TestNode.newDevice();
    try (var staying = neighbour();
        var gateway = new TestGateway(leaving, "gw-in-flight");
        var client = subscribed(leaving, device, MqttVersion.V5)) {
      assertThat(staying.port("mqtt")).isPositive();
      var answers =
          gateway.send(List.of(device), TestNode.newMessage(), "{}", Duration.ofSeconds(30));
      var publish = client.expect(MqttPacket.Publish.class);

      assertThat(post("", LOGIN).statusCode()).isEqualTo(202);
      Eventually.within(PATIENCE, () -> assertThat(drain().path("told").intValue()).isEqualTo(1));
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(gateway.deliver(device, TestNode.newMessage(), "{}").result())
                  .isEqualTo(Result.NOT_HERE));
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));

      assertThat(next(answers).result()).isEqualTo(Result.DELIVERED);
      var goodbye = client.expect(MqttPacket.Disconnect.class);
      assertThat(goodbye.reason()).isEqualTo(ReasonCode.USE_ANOTHER_SERVER);
      assertThat(goodbye.properties().text(PropertyId.SERVER_REFERENCE)).isPresent();
    }
  }

  @Test
  void a_message_that_is_not_acknowledged_in_time_goes_back_to_the_gateway() throws Exception {
    var device = TestNode.newDevice();
    try (var impatient = TestNode.start("--cm.drain.settle=0s", "--cm.drain.notice=0s");
        var gateway = new TestGateway(impatient, "gw-impatient");
        var client = subscribed(impatient, device, MqttVersion.V3_1_1)) {
      var answers =
          gateway.send(List.of(device), TestNode.newMessage(), "{}", Duration.ofSeconds(30));
      client.expect(MqttPacket.Publish.class);

      order("POST", impatient, "", LOGIN);

      assertThat(next(answers).result()).isEqualTo(Result.NOT_HERE);
      assertThat(client.next()).as("3.1.1 has no word for it: closed").isEmpty();
    }
  }

  /// The notice is longer than any test: the device stays until the node's stop ends it.
  @Test
  void a_node_is_not_ready_before_the_first_device_is_sent_away() throws Exception {
    var device = TestNode.newDevice();
    try (var staying = neighbour();
        var warned =
            TestNode.start("--cm.drain.notice=1h", "--cm.directory.heartbeat-every=200ms");
        var client = subscribed(warned, device, MqttVersion.V5)) {
      assertThat(staying.port("mqtt")).isPositive();
      assertThat(readiness(warned)).isEqualTo(200);

      assertThat(order("POST", warned, "", LOGIN).statusCode()).isEqualTo(202);

      assertThat(readiness(warned)).isEqualTo(503);
      var drain = page(warned).path("drain");
      assertThat(drain.path("state").stringValue()).isEqualTo("CLOSING");
      assertThat(drain.path("told").intValue()).isZero();
      try (var gateway = new TestGateway(warned, "gw-notice")) {
        var answers =
            gateway.send(List.of(device), TestNode.newMessage(), "{}", Duration.ofSeconds(30));
        SharedNode.acknowledge(client, client.expect(MqttPacket.Publish.class));
        assertThat(next(answers).result()).as("still served").isEqualTo(Result.DELIVERED);
      }

      end(warned);

      assertThat(client.expect(MqttPacket.Disconnect.class).reason())
          .isEqualTo(ReasonCode.USE_ANOTHER_SERVER);
    }
  }

  @Test
  void a_drained_node_is_not_ready_and_refuses_until_the_drain_is_cancelled() throws Exception {
    try (var staying = neighbour()) {
      assertThat(staying.port("mqtt")).isPositive();
      assertThat(readiness(leaving)).isEqualTo(200);
      post("", LOGIN);
      Eventually.within(
          PATIENCE, () -> assertThat(drain().path("state").stringValue()).isEqualTo("EMPTY"));

      assertThat(readiness(leaving)).isEqualTo(503);
      var directory = leaving.bean(SessionDirectory.class);
      var id = leaving.bean(NodeId.class);
      assertThat(directory.nodes()).anyMatch(lease -> lease.node().equals(id) && lease.draining());
      try (var refused = new RawClient(leaving.port("mqtt"), MqttVersion.V5)) {
        refused.send(RawClient.connect(MqttVersion.V5, TestNode.newDevice()));
        var answer = refused.expect(MqttPacket.ConnAck.class);
        assertThat(answer.code()).isEqualTo(ReasonCode.USE_ANOTHER_SERVER.code());
        assertThat(answer.properties().text(PropertyId.SERVER_REFERENCE)).isPresent();
      }

      assertThat(order("DELETE", leaving, "", LOGIN).statusCode()).isEqualTo(200);

      assertThat(readiness(leaving)).isEqualTo(200);
      subscribed(leaving, TestNode.newDevice(), MqttVersion.V5).close();
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(directory.nodes())
                  .anyMatch(lease -> lease.node().equals(id) && !lease.draining()));
    }
  }

  @Test
  void only_an_authorized_caller_can_drain_a_node() throws Exception {
    var key = leaving.bean(MasterKey.class);
    var passes = new NodePass(key, Clock.systemUTC());
    for (String who :
        new String[] {
          null,
          "",
          "Basic rubbish",
          "Basic "
              + Base64.getEncoder()
                  .encodeToString("gateway:wrong".getBytes(StandardCharsets.UTF_8)),
          "Bearer " + passes.mint(new NodeId("another-node"))
        }) {
      var refused = post("", who);
      assertThat(refused.statusCode()).as(String.valueOf(who)).isEqualTo(401);
      assertThat(refused.headers().firstValue("WWW-Authenticate")).hasValue("Bearer");
      assertThat(order("DELETE", leaving, "", who).statusCode()).isEqualTo(401);
    }
    assertThat(page(leaving).path("draining").booleanValue()).isFalse();

    String pass = "Bearer " + passes.mint(leaving.bean(NodeId.class));
    assertThat(post("?per-second=0", pass).statusCode()).isEqualTo(400);
    assertThat(post("?per-second=many", pass).statusCode()).isEqualTo(400);
    assertThat(page(leaving).path("draining").booleanValue()).isFalse();
    assertThat(post("?per-second=7", pass).statusCode()).isEqualTo(202);
    assertThat(drain().path("per_second").intValue()).isEqualTo(7);
    assertThat(post("?per-second=9", pass).statusCode()).isEqualTo(202);
    assertThat(drain().path("per_second").intValue()).isEqualTo(9);
  }

  private static void end(TestNode node) {
    node.close();
  }

  private static TestNode neighbour() {
    return TestNode.start("--cm.device-host=127.0.0.1", "--cm.directory.heartbeat-every=200ms");
  }

  private static RawClient subscribed(TestNode node, DeviceKey device, MqttVersion version)
      throws Exception {
    return RawClient.subscribed(node.port("mqtt"), RawClient.connect(version, device));
  }

  private static <T> T next(java.util.concurrent.BlockingQueue<T> queue) throws Exception {
    var one = queue.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(one).isNotNull();
    return one;
  }

  private HttpResponse<String> post(String query, String who) throws Exception {
    return order("POST", leaving, query, who);
  }

  private HttpResponse<String> order(String method, TestNode node, String query, String who)
      throws Exception {
    var request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + node.http() + "/node/drain" + query))
            .method(method, BodyPublishers.noBody());
    if (who != null) {
      request.header("Authorization", who);
    }
    return http.send(request.build(), BodyHandlers.ofString());
  }

  private int readiness(TestNode node) throws Exception {
    return get(node, "/actuator/health/readiness").statusCode();
  }

  private JsonNode page(TestNode node) throws Exception {
    return JsonMapper.shared().readTree(get(node, "/node").body());
  }

  private HttpResponse<String> get(TestNode node, String path) throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + node.http() + path)).build(),
        BodyHandlers.ofString());
  }

  private JsonNode drain() throws Exception {
    return page(leaving).path("drain");
  }

  /// Receives and acknowledges, and connects to the node that it is sent to.
  private static final class MovingDevice {
    final DeviceKey key;
    final List<MessageId> expected;
    final List<MessageId> received = new CopyOnWriteArrayList<>();
    volatile boolean moved;
    private RawClient client;

    MovingDevice(DeviceKey key, int messages) {
      this.key = key;
      this.expected = IntStream.range(0, messages).mapToObj(_ -> TestNode.newMessage()).toList();
    }

    void connect(int port) throws IOException {
      client = new RawClient(port, MqttVersion.V5);
      client.patience(PATIENCE);
      client.send(RawClient.connect(MqttVersion.V5, key));
      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isZero();
      client.subscribe();
    }

    Void receiveAll() throws IOException {
      while (!moved
          || received.size() < expected.size()
          || !received.contains(expected.getLast())) {
        switch (client.next().orElse(null)) {
          case MqttPacket.Publish publish -> {
            received.add(new MessageId(id(publish)));
            client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
          }
          case MqttPacket.Disconnect goodbye -> {
            assertThat(goodbye.reason()).isEqualTo(ReasonCode.USE_ANOTHER_SERVER);
            var address = goodbye.properties().text(PropertyId.SERVER_REFERENCE).orElseThrow();
            client.close();
            moved = true;
            connect(Integer.parseInt(address.substring(address.indexOf(':') + 1)));
          }
          case null, default -> {}
        }
      }
      return null;
    }

    private static String id(MqttPacket.Publish publish) {
      return publish.properties().userProperties().stream()
          .filter(property -> property.name().equals("id"))
          .findFirst()
          .orElseThrow()
          .value();
    }

    void close() {
      try {
        client.close();
      } catch (IOException ignored) {
        // The socket is closed already.
      }
    }
  }
}
