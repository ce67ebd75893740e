package io.pushplanet.cm.transport.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/// What only the kernel's own calls can do wrong.
@EnabledIf("io.pushplanet.cm.transport.socket.EpollPoller#isSupported")
@SuppressWarnings("restricted")
class EpollPollerTest {
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_NODELAY = 1;
  private static final int TCP_KEEPIDLE = 4;
  private static final int TCP_KEEPINTVL = 5;
  private static final int TCP_KEEPCNT = 6;
  private static final int SOL_SOCKET = 1;
  private static final int SO_KEEPALIVE = 9;

  @Test
  void is_what_auto_stands_for_here() {
    assertThat(Sockets.AUTO.resolved()).isEqualTo(Sockets.EPOLL);
  }

  @Test
  void buffers_on_the_heap_are_refused_because_they_have_no_address() throws Exception {
    inAccepted((wire, _) -> {
      assertThatIllegalArgumentException().isThrownBy(() -> wire.read(ByteBuffer.allocate(8)));
      assertThatIllegalArgumentException().isThrownBy(() -> wire.write(ByteBuffer.allocate(8)));
    });
  }

  @Test
  void only_what_remains_of_a_buffer_is_written_and_read() throws Exception {
    inAccepted((wire, peer) -> {
      var sent = ByteBuffer.allocateDirect(8).put("abcdefgh".getBytes(US_ASCII));
      assertThat(wire.write(sent.position(2).limit(5))).isEqualTo(3);
      assertThat(sent.position()).isEqualTo(5);
      assertThat(wire.write(sent)).as("nothing remains").isZero();
      assertThat(peer.getInputStream().readNBytes(3)).isEqualTo("cde".getBytes(US_ASCII));

      peer.getOutputStream().write("xyz".getBytes(US_ASCII));
      var read = ByteBuffer.allocateDirect(8).put("abcdefgh".getBytes(US_ASCII));
      read.position(4).limit(6);
      while (wire.read(read) == 0) {
        Thread.onSpinWait();
      }
      assertThat(read.position()).isEqualTo(6);
      assertThat(wire.read(read)).as("no room").isZero();
      assertThat(US_ASCII.decode(read.clear()).toString()).isEqualTo("abcdxygh");
    });
  }

  @Test
  void who_is_accepted_sends_at_once() throws Exception {
    inAccepted((wire, _) -> assertThat(option(wire, IPPROTO_TCP, TCP_NODELAY)).isEqualTo(1));
  }

  @Test
  void who_is_accepted_is_asked_whether_he_is_there_when_he_has_said_nothing_for_long()
      throws Exception {
    inAccepted((wire, _) -> {
      assertThat(option(wire, SOL_SOCKET, SO_KEEPALIVE)).isEqualTo(1);
      assertThat(option(wire, IPPROTO_TCP, TCP_KEEPIDLE)).isEqualTo(45 * 60);
      assertThat(option(wire, IPPROTO_TCP, TCP_KEEPINTVL)).isEqualTo(75);
      assertThat(option(wire, IPPROTO_TCP, TCP_KEEPCNT)).isEqualTo(8);
    });
  }

  private static int option(Wire wire, int level, int name) throws Throwable {
    var linker = Linker.nativeLinker();
    var getsockopt =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("getsockopt"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    try (var arena = Arena.ofConfined()) {
      var value = arena.allocateFrom(JAVA_INT, -1);
      var bytes = arena.allocateFrom(JAVA_INT, Integer.BYTES);
      int result =
          (int)
              getsockopt.invokeExact(
                  descriptor(wire), level, name, value.address(), bytes.address());
      assertThat(result).isZero();
      return value.get(JAVA_INT, 0);
    }
  }

  private static int descriptor(Wire wire) throws ReflectiveOperationException {
    var field = wire.getClass().getSuperclass().getDeclaredField("socket");
    field.setAccessible(true);
    return field.getInt(wire);
  }

  private interface Step {
    void of(Wire wire, Socket peer) throws Throwable;
  }

  private static void inAccepted(Step step) throws Exception {
    try (var poller = Sockets.EPOLL.open()) {
      var door = poller.listen(new InetSocketAddress("127.0.0.1", 0), 16);
      door.open(door);
      try (var peer = new Socket("127.0.0.1", door.port())) {
        poller.poll(30_000, (_, _, _) -> {});
        var wire = Objects.requireNonNull(door.accept()).wire();
        step.of(wire, peer);
        wire.close();
      } catch (IOException | RuntimeException | Error failed) {
        throw failed;
      } catch (Throwable failed) {
        throw new AssertionError(failed);
      } finally {
        door.close();
      }
    }
  }
}
