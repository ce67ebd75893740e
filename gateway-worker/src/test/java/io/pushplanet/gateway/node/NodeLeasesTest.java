package io.pushplanet.gateway.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class NodeLeasesTest {
  private static final NodeId NODE = new NodeId("n1");
  private static final NodeLease LEASE =
      new NodeLease(NODE, "127.0.0.1", 1, 0, 0, 0, false, Instant.EPOCH);

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicInteger reads = new AtomicInteger();

  @Test
  void leases_are_read_once_in_a_second() {
    NodeLeases leases =
        new NodeLeases(
            () -> {
              reads.incrementAndGet();
              return List.of(LEASE);
            },
            nanos::get);

    assertThat(leases.of(NODE)).contains(LEASE);
    assertThat(leases.of(new NodeId("n2"))).isEmpty();
    assertThat(reads).hasValue(1);

    nanos.addAndGet(Duration.ofSeconds(1).toNanos());
    assertThat(leases.of(NODE)).contains(LEASE);
    assertThat(reads).hasValue(2);
  }

  @Test
  void known_leases_are_used_while_the_directory_is_away() {
    AtomicBoolean away = new AtomicBoolean();
    NodeLeases leases =
        new NodeLeases(
            () -> {
              if (away.get()) {
                throw new RedisUnavailable("Redis is away", null);
              }
              return List.of(LEASE);
            },
            nanos::get);
    assertThat(leases.of(NODE)).contains(LEASE);
    assertThat(leases.areOld()).isFalse();

    away.set(true);
    nanos.addAndGet(Duration.ofSeconds(1).toNanos());

    assertThat(leases.of(NODE)).contains(LEASE);
    assertThat(leases.areOld()).isTrue();
  }

  @Test
  void threads_that_look_for_an_unknown_node_wait_for_one_failure_together() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    NodeLeases leases =
        new NodeLeases(
            () -> {
              reads.incrementAndGet();
              await(gate);
              throw new RedisUnavailable("Redis hangs", null);
            },
            nanos::get);
    List<Optional<NodeLease>> found = new CopyOnWriteArrayList<>();
    List<Thread> asking = new ArrayList<>();
    for (int thread = 0; thread < 3; thread++) {
      asking.add(Thread.ofPlatform().start(() -> found.add(leases.of(NODE))));
    }
    Eventually.within(
        Duration.ofSeconds(20),
        () ->
            assertThat(asking)
                .extracting(Thread::getState)
                .containsExactlyInAnyOrder(
                    Thread.State.TIMED_WAITING, Thread.State.WAITING, Thread.State.WAITING));

    gate.countDown();

    for (Thread one : asking) {
      assertThat(one.join(Duration.ofSeconds(20))).isTrue();
    }
    assertThat(reads).hasValue(1);
    assertThat(found).containsExactly(Optional.empty(), Optional.empty(), Optional.empty());
  }

  private static void await(CountDownLatch gate) {
    try {
      assertThat(gate.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
