package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Many peers leave at once: real sockets, and a loop for which each close takes as long as the
/// test says.
class PeersLeaveIT {
  private static final int LEAVING = 50;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /// Two closes fill a turn's slice.
  private static final long A_CLOSE_NANOS = EventLoop.LEFT_SLICE_NANOS / 2;

  private final AtomicLong nanos = new AtomicLong(1);
  private final List<String> happened = new CopyOnWriteArrayList<>();
  private final List<Connection> connections = new CopyOnWriteArrayList<>();
  private final List<Socket> leaving = new ArrayList<>();
  private Transport transport;

  @BeforeEach
  void connect() throws Exception {
    transport = OneLoop.start(nanos::get, Peer::new);
    for (int count = 0; count < LEAVING; count++) {
      leaving.add(OneLoop.connect(transport));
    }
  }

  @AfterEach
  void close() throws Exception {
    for (Socket socket : leaving) {
      socket.close();
    }
    transport.close();
  }

  @Test
  void who_stays_is_read_before_those_who_left_at_the_same_time_are_closed() throws Exception {
    try (var staying = OneLoop.connect(transport)) {
      Eventually.within(PATIENCE, () -> assertThat(connections).hasSize(LEAVING + 1));

      whileTheLoopIsBusy(() -> {
        allLeave();
        staying.getOutputStream().write(1);
      });

      awaitEnds();
      assertThat(happened).startsWith("read");
    }
  }

  @Test
  void tasks_run_between_the_closes_of_many() throws Exception {
    Eventually.within(PATIENCE, () -> assertThat(connections).hasSize(LEAVING));

    whileTheLoopIsBusy(this::allLeave);

    awaitEnds();
    // Each close asks for a task. Two are closed in a turn, then the tasks of both run.
    assertThat(happened.subList(0, 8))
        .containsExactly(
            "closed PEER",
            "closed PEER",
            "task",
            "task",
            "closed PEER",
            "closed PEER",
            "task",
            "task");
  }

  @Test
  void a_connection_whose_peer_left_is_closed_once_whatever_closes_it_first() throws Exception {
    Eventually.within(PATIENCE, () -> assertThat(connections).hasSize(LEAVING));

    whileTheLoopIsBusy(() -> {
      allLeave();
      Connection last = connections.getLast();
      last.loop().execute(() -> last.close(CloseCause.OURS));
    });

    awaitEnds();
    assertThat(happened.stream().filter(what -> what.startsWith("closed")))
        .hasSize(LEAVING)
        .containsOnlyOnce("closed OURS");
  }

  private void allLeave() throws Exception {
    for (Socket socket : leaving) {
      socket.close();
    }
  }

  private interface Action {
    void run() throws Exception;
  }

  /// The loop finds all that the action did in its next turn.
  private void whileTheLoopIsBusy(Action action) throws Exception {
    var entered = new CountDownLatch(1);
    var leave = new CountDownLatch(1);
    connections
        .getFirst()
        .loop()
        .execute(() -> {
          entered.countDown();
          try {
            leave.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    assertThat(entered.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    try {
      action.run();
    } finally {
      leave.countDown();
    }
  }

  private void awaitEnds() {
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(happened.stream().filter(what -> what.startsWith("closed")))
                .hasSize(LEAVING));
  }

  private final class Peer implements Receiver {
    private final Connection connection;

    Peer(Connection connection) {
      this.connection = connection;
      connections.add(connection);
    }

    @Override
    public void received(ByteBuffer input) {
      input.position(input.limit());
      happened.add("read");
    }

    @Override
    public void closed(CloseCause cause) {
      happened.add("closed " + cause);
      nanos.addAndGet(A_CLOSE_NANOS);
      connection.loop().execute(() -> happened.add("task"));
    }
  }
}
