package io.pushplanet.gateway.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.order.Ticket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodesIT {
  private static final int PUBLISHING = 8;
  private static final Duration A_LONG_TIME = Duration.ofHours(1);
  private static final NodeSettings SETTINGS =
      new NodeSettings("gateway", new Secret("x"), PUBLISHING, Duration.ofSeconds(20));
  private static final NodeFrame.Drain DRAIN =
      new NodeFrame.Drain(
          List.of(new NodeFrame.Drain.Device(new AppId("shop"), new DeviceId("d1"))));

  private final MutableClock clock = MutableClock.started();
  private final AtomicLong nanos = new AtomicLong();

  @Test
  void a_clock_that_is_set_back_hides_no_node() throws Exception {
    List<NodeLease> leases = new CopyOnWriteArrayList<>();
    try (FakeNode first = new FakeNode("n1");
        FakeNode second = new FakeNode("n2");
        Nodes nodes = nodes(() -> leases)) {
      first.answer("d1", Result.DELIVERED);
      second.answer("d1", Result.DELIVERED);
      leases.add(first.lease(clock.instant()));
      assertThat(delivered(nodes, "n1")).containsExactly(Result.DELIVERED);

      clock.advance(Duration.ofHours(-1));
      leases.add(second.lease(clock.instant()));
      nanos.addAndGet(Duration.ofSeconds(2).toNanos());

      assertThat(delivered(nodes, "n2")).containsExactly(Result.DELIVERED);
    }
  }

  @Test
  void a_node_whose_lease_is_unknown_is_asked_again() {
    AtomicBoolean away = new AtomicBoolean(true);
    try (Nodes nodes =
        nodes(() -> {
          if (away.get()) {
            throw new RedisUnavailable("Redis is away", null);
          }
          return List.of();
        })) {
      assertThat(nodes.drain(new NodeId("n1"), Priority.HIGH, DRAIN)).isFalse();

      away.set(false);
      assertThat(nodes.drain(new NodeId("n1"), Priority.HIGH, DRAIN)).isTrue();
    }
  }

  @Test
  void an_error_of_the_client_does_not_hold_up_later_frames() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        NodeSender sender = patient(node)) {
      for (int error = 0; error < 3; error++) {
        assertThatThrownBy(() ->
                sender.send(
                    sender.ticket(),
                    A_LONG_TIME,
                    (_, _) -> {
                      throw new IllegalStateException("a bug of the client");
                    }))
            .hasMessage("a bug of the client");
      }

      drain(sender, sender.ticket(), "d1");
      assertThat(node.drained()).hasSize(1);
    }
  }

  @Test
  void a_node_that_takes_no_connection_is_tried_once_a_second() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual()
          .start(() -> {
            try {
              while (true) {
                listener.accept().close();
                tries.incrementAndGet();
              }
            } catch (IOException closed) {
              // The test is over.
            }
          });
      NodeLease lease =
          new NodeLease(
              new NodeId("n1"),
              "127.0.0.1",
              listener.getLocalPort(),
              0,
              0,
              0,
              false,
              clock.instant());
      try (Nodes nodes = nodes(() -> List.of(lease));
          var frames = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<List<Result>>> results = new ArrayList<>();
        for (int count = 0; count < 20; count++) {
          results.add(frames.submit(() -> delivered(nodes, "n1")));
        }
        for (Future<List<Result>> one : results) {
          assertThat(one.get()).containsExactly(Result.TIMEOUT);
        }
        assertThat(nodes.drain(lease.node(), Priority.HIGH, DRAIN)).isFalse();
        assertThat(tries).hasValue(1);

        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(nodes.drain(lease.node(), Priority.HIGH, DRAIN)).isFalse();
        assertThat(tries).hasValue(2);
      }
    }
  }

  @Test
  void frames_leave_in_the_order_of_their_tickets_on_one_connection() throws Exception {
    List<String> devices = IntStream.range(0, 200).mapToObj(i -> "d" + i).toList();
    try (FakeNode node = new FakeNode("n1");
        NodeSender sender = patient(node);
        var frames = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Ticket> tickets = devices.stream().map(_ -> sender.ticket()).toList();
      List<Future<?>> sent = new ArrayList<>();
      for (int last = devices.size() - 1; last >= 0; last--) {
        int frame = last;
        sent.add(frames.submit(() -> drain(sender, tickets.get(frame), devices.get(frame))));
      }
      for (Future<?> one : sent) {
        one.get(60, TimeUnit.SECONDS);
      }

      assertThat(node.drained()).extracting(DeviceId::value).containsExactlyElementsOf(devices);
      assertThat(node.connects()).isEqualTo(1);
    }
  }

  @Test
  void frames_leave_before_earlier_ones_are_acknowledged_up_to_a_limit() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        NodeSender sender = patient(node);
        var frames = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> sent = sentUnacknowledged(node, sender, PUBLISHING + 1, frames);

      node.acknowledgeAll();

      for (Future<?> one : sent) {
        one.get(60, TimeUnit.SECONDS);
      }
      assertThat(node.drained()).hasSize(1 + PUBLISHING + 1);
      assertThat(node.connects()).isEqualTo(1);
    }
  }

  @Test
  void all_frames_hear_that_the_connection_is_gone() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        NodeSender sender = patient(node);
        var frames = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> sent = sentUnacknowledged(node, sender, 2 * PUBLISHING, frames);

      node.vanish();

      for (Future<?> one : sent) {
        assertThatThrownBy(() -> one.get(60, TimeUnit.SECONDS))
            .hasCauseInstanceOf(NodeUnreachable.class);
      }
    }
  }

  @Test
  void high_priority_does_not_wait_behind_normal() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        Nodes nodes = nodes(() -> List.of(node.lease(clock.instant())));
        var frames = Executors.newVirtualThreadPerTaskExecutor()) {
      assertThat(nodes.drain(new NodeId("n1"), Priority.NORMAL, DRAIN)).isTrue();
      node.acknowledgeNothing();
      List<Future<Boolean>> normal = new ArrayList<>();
      for (int count = 0; count < PUBLISHING + 1; count++) {
        normal.add(frames.submit(() -> nodes.drain(new NodeId("n1"), Priority.NORMAL, DRAIN)));
      }
      Eventually.within(
          Duration.ofSeconds(60), () -> assertThat(node.published()).isEqualTo(1 + PUBLISHING));

      Future<Boolean> high =
          frames.submit(() -> nodes.drain(new NodeId("n1"), Priority.HIGH, DRAIN));

      Eventually.within(
          Duration.ofSeconds(60), () -> assertThat(node.published()).isEqualTo(2 + PUBLISHING));
      node.acknowledgeAll();
      assertThat(high.get(60, TimeUnit.SECONDS)).isTrue();
      for (Future<Boolean> one : normal) {
        one.get(60, TimeUnit.SECONDS);
      }
    }
  }

  @Test
  void an_unsent_frame_holds_up_no_other_once_its_slot_is_closed() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        Nodes nodes = nodes(() -> List.of(node.lease(clock.instant())))) {
      node.answer("d1", Result.DELIVERED);
      Nodes.SendSlot never = nodes.queue(new NodeId("n1"), Priority.HIGH);
      try (var frames = Executors.newVirtualThreadPerTaskExecutor()) {
        Future<List<Result>> behind = frames.submit(() -> delivered(nodes, "n1"));
        never.close();
        assertThat(behind.get(60, TimeUnit.SECONDS)).containsExactly(Result.DELIVERED);
      }
    }
  }

  @Test
  void a_stopping_worker_sends_no_frame_that_it_would_wait_for() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        Nodes nodes = nodes(() -> List.of(node.lease(clock.instant())));
        var frames = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<List<Result>> silent = frames.submit(() -> delivered(nodes, "n1"));
      Eventually.within(Duration.ofSeconds(60), () -> assertThat(node.messages()).hasSize(1));

      nodes.abandonAll();

      assertThat(silent.get(10, TimeUnit.SECONDS)).containsExactly(Result.TIMEOUT);
      assertThat(nodes.drain(new NodeId("n1"), Priority.HIGH, DRAIN)).as("ask again").isFalse();
      assertThat(delivered(nodes, "n1")).containsExactly(Result.TIMEOUT);
      assertThat(node.published()).isEqualTo(1);
    }
  }

  @Test
  void a_frame_that_is_queued_when_the_worker_stops_is_not_sent() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        Nodes nodes = nodes(() -> List.of(node.lease(clock.instant())))) {
      node.answer("d1", Result.DELIVERED);
      assertThat(delivered(nodes, "n1")).containsExactly(Result.DELIVERED);
      Nodes.SendSlot first = nodes.queue(new NodeId("n1"), Priority.HIGH);
      List<Result> behind = new CopyOnWriteArrayList<>();
      Thread waiting = Thread.ofPlatform().start(() -> behind.addAll(delivered(nodes, "n1")));
      Eventually.within(
          Duration.ofSeconds(20),
          () ->
              assertThat(waiting.getStackTrace())
                  .extracting(StackTraceElement::getClassName)
                  .contains(Ticket.class.getName()));

      nodes.abandonAll();
      first.close();

      assertThat(waiting.join(Duration.ofSeconds(20))).isTrue();
      assertThat(behind).containsExactly(Result.TIMEOUT);
      assertThat(node.published()).isEqualTo(1);
    }
  }

  /// Sends so many frames that some wait for an acknowledgement and the others for a permit.
  private static List<Future<?>> sentUnacknowledged(
      FakeNode node, NodeSender sender, int many, ExecutorService frames) {
    drain(sender, sender.ticket(), "d1");
    node.acknowledgeNothing();
    List<Future<?>> sent = new ArrayList<>();
    for (int count = 0; count < many; count++) {
      Ticket ticket = sender.ticket();
      sent.add(frames.submit(() -> drain(sender, ticket, "d1")));
    }
    Eventually.within(
        Duration.ofSeconds(60), () -> assertThat(node.published()).isEqualTo(1 + PUBLISHING));
    return sent;
  }

  /// Nothing ends because the machine is slow.
  private NodeSender patient(FakeNode node) {
    return new NodeSender(
        NodeAddress.of(node.lease(clock.instant())), SETTINGS, nanos::get, A_LONG_TIME);
  }

  private static void drain(NodeSender sender, Ticket ticket, String device) {
    byte[] body =
        WireForm.write(
            new NodeFrame.Drain(
                List.of(new NodeFrame.Drain.Device(new AppId("shop"), new DeviceId(device)))));
    sender.send(ticket, A_LONG_TIME, (connection, atMost) -> connection.drain(body, atMost));
  }

  private Nodes nodes(Supplier<List<NodeLease>> directory) {
    return new Nodes(directory, SETTINGS, clock, nanos::get, new SimpleMeterRegistry());
  }

  private List<Result> delivered(Nodes nodes, String node) {
    Instant answerBy = clock.instant().plusSeconds(20);
    List<Result> results = new ArrayList<>();
    nodes.deliver(
        nodes.queue(new NodeId(node), Priority.HIGH),
        List.of(
            new NodeFrame.Message(
                new MessageId("019aa000-0000-7000-8000-000000000001"), answerBy, "{}")),
        List.of(new NodeFrame.Target(new AppId("shop"), new DeviceId("d1"), 0, null)),
        answerBy,
        some -> some.stream().map(NodeOutcomes.Outcome::result).forEach(results::add));
    return results;
  }
}
