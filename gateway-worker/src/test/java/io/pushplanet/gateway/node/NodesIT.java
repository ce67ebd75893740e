package io.pushplanet.gateway.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.NodeLease;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.WireForm;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class NodesIT {
  private static final int CONNECTIONS = 2;
  private static final int PUBLISHING = 8;
  private static final NodeSettings SETTINGS =
      new NodeSettings("gateway", new Secret("x"), CONNECTIONS, PUBLISHING, Duration.ofSeconds(20));
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
  void those_who_look_for_an_unknown_node_wait_for_one_failure_together() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    AtomicInteger reads = new AtomicInteger();
    Supplier<List<NodeLease>> hanging =
        () -> {
          reads.incrementAndGet();
          try {
            assertThat(gate.await(60, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          throw new DirectoryUnavailable("Redis hangs", null);
        };
    List<Thread> asking = new ArrayList<>();
    List<Result> results = new CopyOnWriteArrayList<>();
    try (Nodes nodes = nodes(hanging)) {
      for (int frame = 0; frame < 3; frame++) {
        asking.add(Thread.ofPlatform().start(() -> results.addAll(delivered(nodes, "n1"))));
      }
      Eventually.within(
          Duration.ofSeconds(20),
          () ->
              assertThat(asking)
                  .allSatisfy(thread -> {
                    assertThat(thread.getStackTrace())
                        .extracting(StackTraceElement::getMethodName)
                        .contains("lease");
                    assertThat(thread.getState())
                        .isIn(Thread.State.WAITING, Thread.State.TIMED_WAITING);
                  }));
      gate.countDown();
      for (Thread one : asking) {
        assertThat(one.join(Duration.ofSeconds(20))).isTrue();
      }
    }

    assertThat(reads).hasValue(1);
    assertThat(results).containsExactly(Result.NOT_HERE, Result.NOT_HERE, Result.NOT_HERE);
  }

  @Test
  void a_node_of_which_nobody_knows_whether_it_has_a_lease_is_to_be_asked_again() {
    AtomicBoolean away = new AtomicBoolean(true);
    try (Nodes nodes =
        nodes(() -> {
          if (away.get()) {
            throw new DirectoryUnavailable("Redis is away", null);
          }
          return List.of();
        })) {
      assertThat(nodes.drain(new NodeId("n1"), DRAIN)).isFalse();

      away.set(false);
      assertThat(nodes.drain(new NodeId("n1"), DRAIN)).isTrue();
    }
  }

  @Test
  void an_error_of_the_client_keeps_no_place_for_a_connection() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        Nodes nodes = nodes(List::of)) {
      NodeLease lease = node.lease(clock.instant());
      for (int error = 0; error <= CONNECTIONS; error++) {
        assertThatThrownBy(() ->
                nodes.withConnection(
                    lease,
                    connection -> {
                      throw new IllegalStateException("a bug of the client");
                    }))
            .hasMessage("a bug of the client");
      }

      assertThat(nodes.withConnection(lease, connection -> {}).isOpen()).isTrue();
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
        assertThat(nodes.drain(lease.node(), DRAIN)).isFalse();
        assertThat(tries).hasValue(1);

        nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(nodes.drain(lease.node(), DRAIN)).isFalse();
        assertThat(tries).hasValue(2);
      }
    }
  }

  @Test
  void frames_share_the_connections_to_a_node() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        NodeConnections connections = patient(node);
        var frames = Executors.newVirtualThreadPerTaskExecutor()) {
      drain(connections);
      node.acknowledgeNothing();
      List<Future<?>> asked = new ArrayList<>();
      for (int count = 0; count < CONNECTIONS * PUBLISHING; count++) {
        int before = node.published();
        asked.add(frames.submit(() -> drain(connections)));
        Eventually.within(
            Duration.ofSeconds(60), () -> assertThat(node.published()).isEqualTo(before + 1));
      }

      node.vanish();
      for (Future<?> one : asked) {
        assertThatThrownBy(one::get).hasCauseInstanceOf(NodeUnreachable.class);
      }
    }
  }

  @Test
  void frames_wait_for_what_is_connected_while_no_other_connection_can_be_made() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        NodeConnections connections = patient(node);
        var frames = Executors.newVirtualThreadPerTaskExecutor()) {
      drain(connections);
      node.takeNoMore();
      node.acknowledgeNothing();
      List<Future<?>> asked = new ArrayList<>();
      for (int count = 0; count < PUBLISHING; count++) {
        int before = node.published();
        asked.add(frames.submit(() -> drain(connections)));
        Eventually.within(
            Duration.ofSeconds(60), () -> assertThat(node.published()).isEqualTo(before + 1));
      }
      asked.add(frames.submit(() -> drain(connections)));
      Eventually.within(Duration.ofSeconds(60), () -> assertThat(node.connects()).isEqualTo(2));

      node.acknowledgeAll();

      for (Future<?> one : asked) {
        one.get(60, TimeUnit.SECONDS);
      }
      assertThat(node.drained()).hasSize(2 + PUBLISHING);
    }
  }

  @Test
  void what_follows_goes_out_on_the_same_connection_while_that_has_room() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        Nodes nodes = nodes(() -> List.of(node.lease(clock.instant())))) {
      for (int frame = 0; frame < 2 * CONNECTIONS; frame++) {
        assertThat(nodes.drain(new NodeId("n1"), DRAIN)).isTrue();
      }

      assertThat(node.connects()).isEqualTo(1);
    }
  }

  /// Whatever the machine is like, nothing ends because it took too long.
  private NodeConnections patient(FakeNode node) {
    return new NodeConnections(
        NodeAddress.of(node.lease(clock.instant())), SETTINGS, nanos::get, Duration.ofHours(1));
  }

  private static void drain(NodeConnections connections) {
    connections.with(connection -> connection.drain(WireForm.write(DRAIN)));
  }

  private Nodes nodes(Supplier<List<NodeLease>> directory) {
    return new Nodes(
        directory,
        new NodeSettings(
            "gateway", new Secret("x"), CONNECTIONS, PUBLISHING, Duration.ofSeconds(20)),
        clock,
        nanos::get,
        new SimpleMeterRegistry());
  }

  private List<Result> delivered(Nodes nodes, String node) {
    Instant answerBy = clock.instant().plusSeconds(20);
    List<Result> results = new ArrayList<>();
    nodes.deliver(
        new NodeId(node),
        List.of(
            new NodeFrame.Letter(
                new MessageId("019aa000-0000-7000-8000-000000000001"), answerBy, "{}")),
        List.of(new NodeFrame.Target(new AppId("shop"), new DeviceId("d1"), 0, null)),
        answerBy,
        some -> some.stream().map(NodeOutcomes.Outcome::result).forEach(results::add));
    return results;
  }
}
