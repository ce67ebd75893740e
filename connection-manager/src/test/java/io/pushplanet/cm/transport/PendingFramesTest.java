package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// For small answers the heap that they take counts, not their bytes.
class PendingFramesTest {
  private static final int QUESTIONS = 60_000;

  private final List<CloseCause> closed = new ArrayList<>();
  private int answered;

  @Test
  void a_peer_that_lets_thousands_of_small_frames_wait_is_closed() throws Exception {
    ask(true);

    assertThat(closed).containsExactly(CloseCause.SLOW_READER);
    assertThat(answered).isLessThan(1_000);
  }

  @Test
  void for_a_stranger_a_few_may_wait() throws Exception {
    ask(false);

    assertThat(closed).containsExactly(CloseCause.SLOW_READER);
    assertThat(answered).isLessThan(60);
  }

  @Test
  void a_frame_has_begun_when_the_peer_has_part_of_it_and_not_all() {
    var frames = new PendingFrames();
    frames.add(new byte[] {1, 2, 3});
    frames.add(new byte[] {4, 5, 6});
    assertThat(frames.hasBegun()).isFalse();

    frames.taken(3);
    assertThat(frames.hasBegun()).isFalse();
    frames.taken(1);
    assertThat(frames.hasBegun()).isTrue();
    var left = ByteBuffer.allocate(10);
    frames.copyTo(left);
    assertThat(left.flip()).isEqualTo(ByteBuffer.wrap(new byte[] {5, 6}));
    assertThat(frames.bytes()).isEqualTo(2);
    frames.taken(2);

    assertThat(frames.hasBegun()).isFalse();
    assertThat(frames.isEmpty()).isTrue();
    assertThat(frames.cost()).isZero();
  }

  private void ask(boolean known) throws Exception {
    try (var sockets =
        new FakeSockets(
            new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(1)),
            new SimpleMeterRegistry(),
            System::nanoTime,
            connection -> new Answering(connection, known))) {
      var done = new CountDownLatch(1);
      sockets
          .loop()
          .execute(() -> {
            sockets.receive(sockets.accept(), new byte[QUESTIONS]);
            done.countDown();
          });
      assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  /// Answers each byte with two, like PINGREQ and a WebSocket's ping; no byte leaves before the
  /// turn ends.
  private final class Answering implements ConnectionHandler {
    private final Connection connection;

    Answering(Connection connection, boolean known) {
      this.connection = connection;
      if (known) {
        connection.authenticated();
      }
    }

    @Override
    public void received(ByteBuffer input) {
      while (input.hasRemaining() && connection.isOpen()) {
        input.get();
        connection.write(new byte[2]);
        answered++;
      }
    }

    @Override
    public void crowded() {}

    @Override
    public void flushed() {}

    @Override
    public boolean swept(long nowNanos) {
      return false;
    }

    @Override
    public void stopping() {}

    @Override
    public void closed(CloseCause cause) {
      closed.add(cause);
    }
  }
}
