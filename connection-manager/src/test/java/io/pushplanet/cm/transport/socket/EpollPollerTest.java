package io.pushplanet.cm.transport.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Faults that only the kernel's own calls can have.
@EnabledIf("io.pushplanet.cm.transport.socket.EpollPoller#isSupported")
@SuppressWarnings("restricted")
class EpollPollerTest {
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_NODELAY = 1;
  private static final int TCP_KEEPIDLE = 4;
  private static final int TCP_KEEPINTVL = 5;
  private static final int TCP_KEEPCNT = 6;
  private static final int TCP_USER_TIMEOUT = 18;
  private static final int SOL_SOCKET = 1;
  private static final int SO_KEEPALIVE = 9;
  private static final int EPIPE = 32;
  private static final int ENETUNREACH = 101;
  private static final int ECONNRESET = 104;
  private static final int ETIMEDOUT = 110;
  private static final int EHOSTUNREACH = 113;

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
  void an_accepted_socket_sends_at_once() throws Exception {
    inAccepted((wire, _) -> assertThat(option(wire, IPPROTO_TCP, TCP_NODELAY)).isEqualTo(1));
  }

  @Test
  void an_accepted_socket_is_probed_after_a_long_silence() throws Exception {
    inAccepted((wire, _) -> {
      assertThat(option(wire, SOL_SOCKET, SO_KEEPALIVE)).isEqualTo(1);
      assertThat(option(wire, IPPROTO_TCP, TCP_KEEPIDLE)).isEqualTo(45 * 60);
      assertThat(option(wire, IPPROTO_TCP, TCP_KEEPINTVL)).isEqualTo(75);
      assertThat(option(wire, IPPROTO_TCP, TCP_KEEPCNT)).isEqualTo(8);
    });
  }

  @Test
  void an_accepted_socket_waits_for_acknowledgements_as_long_as_its_listening_socket()
      throws Exception {
    inAccepted(
        Duration.ofSeconds(30),
        (wire, _) -> assertThat(option(wire, IPPROTO_TCP, TCP_USER_TIMEOUT)).isEqualTo(30_000));
    inAccepted((wire, _) -> assertThat(option(wire, IPPROTO_TCP, TCP_USER_TIMEOUT)).isZero());
    inAccepted(
        Duration.ofDays(1_000),
        (wire, _) ->
            assertThat(option(wire, IPPROTO_TCP, TCP_USER_TIMEOUT)).isEqualTo(Integer.MAX_VALUE));
  }

  /// The kernel counts a peer that has no room like one that does not answer.
  @Test
  void a_connection_that_the_kernel_has_given_up_says_so() throws Exception {
    inAccepted(
        Duration.ofMillis(500),
        (wire, _) -> {
          var some = ByteBuffer.allocateDirect(64 * 1024);
          assertThatExceptionOfType(Wire.PathDead.class)
              .isThrownBy(() -> {
                long beganNanos = System.nanoTime();
                while (System.nanoTime() - beganNanos < Duration.ofSeconds(60).toNanos()) {
                  wire.write(some.clear());
                  Thread.onSpinWait();
                }
              });
        });
  }

  /// A router's last word stands in for the time.
  @ParameterizedTest
  @ValueSource(ints = {ENETUNREACH, ETIMEDOUT, EHOSTUNREACH})
  void a_dead_path_has_several_errors(int error) throws Exception {
    withErrors(
        error,
        (wire, _) -> {
          var bytes = ByteBuffer.allocateDirect(8);
          assertThatExceptionOfType(Wire.PathDead.class).isThrownBy(() -> wire.read(bytes));
          assertThatExceptionOfType(Wire.PathDead.class).isThrownBy(() -> wire.write(bytes));
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {ECONNRESET, EPIPE})
  void a_peer_that_has_gone_is_no_dead_path(int error) throws Exception {
    withErrors(
        error,
        (wire, _) ->
            assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> wire.read(ByteBuffer.allocateDirect(8)))
                .isNotInstanceOf(Wire.PathDead.class));
  }

  private static void withErrors(int error, Step step) throws Exception {
    var broken =
        new Syscalls() {
          @Override
          int recv(int socket, long address, int bytes) {
            return -error;
          }

          @Override
          int send(int socket, long address, int bytes) {
            return -error;
          }
        };
    inAccepted(new EpollPoller(broken), Duration.ZERO, step);
  }

  @Test
  void a_wait_is_told_to_the_kernel_in_seconds_and_nanoseconds() throws Exception {
    var kernel = new Kernel(0);
    waitFor(kernel, 1, 300_000, 999_999_999, 1_000_000_000, 2_500_000_001L, Long.MAX_VALUE);

    assertThat(kernel.waits)
        .containsExactly(
            "0 s 1 ns",
            "0 s 300000 ns",
            "0 s 999999999 ns",
            "1 s 0 ns",
            "2 s 500000001 ns",
            "9223372036 s 854775807 ns");
  }

  @Test
  void a_poll_without_waiting_checks_once() throws Exception {
    var kernel = new Kernel(0);
    waitFor(kernel, 0, -1, -2_000_000, Long.MIN_VALUE);

    assertThat(kernel.waits).containsExactly("0 ms", "0 ms", "0 ms", "0 ms");
  }

  /// ENOSYS of an older kernel, EPERM of an older container.
  @ParameterizedTest
  @ValueSource(ints = {38, 1})
  void a_kernel_that_counts_milliseconds_only_is_asked_once_and_waits_are_rounded_up(int error)
      throws Exception {
    var kernel = new Kernel(-error);
    waitFor(kernel, 0, 1, 300_000, 1_000_000, 1_000_001, 2_500_000_001L, 0, Long.MAX_VALUE);

    assertThat(kernel.waits)
        .containsExactly(
            "0 ms", "0 s 1 ns", "1 ms", "1 ms", "1 ms", "2 ms", "2501 ms", "0 ms", "2147483647 ms");
  }

  @Test
  void a_signal_ends_a_wait_and_not_the_nanoseconds() throws Exception {
    var kernel = new Kernel(-Syscalls.EINTR);
    waitFor(kernel, 1, 2);

    assertThat(kernel.waits).containsExactly("0 s 1 ns", "0 s 2 ns");
  }

  @Test
  void this_kernel_waits_for_less_than_a_millisecond() throws Exception {
    var results = new ArrayList<Integer>();
    var here =
        new Syscalls() {
          @Override
          int epollPwait2(int epoll, long events, int most, long timeout) {
            int result = super.epollPwait2(epoll, events, most, timeout);
            results.add(result);
            return result;
          }

          @Override
          int epollWait(int epoll, long events, int most, int timeoutMillis) {
            throw new AssertionError("it cannot: " + results);
          }
        };
    try (var poller = new EpollPoller(here)) {
      long beganNanos = System.nanoTime();
      poller.poll(300_000, (_, _, _) -> {});
      assertThat(System.nanoTime() - beganNanos).isGreaterThanOrEqualTo(300_000);

      poller.wakeup();
      poller.poll(Duration.ofSeconds(30).toNanos(), (_, _, _) -> {});
    }

    assertThat(results).as("nobody, then the alarm").containsExactly(0, 1);
  }

  private static void waitFor(Kernel kernel, long... nanos) throws IOException {
    try (var poller = new EpollPoller(kernel)) {
      for (long each : nanos) {
        poller.poll(each, (_, _, _) -> {});
      }
    }
  }

  /// A kernel that does not wait and reports no events.
  private static final class Kernel extends Syscalls {
    private final int epollPwait2;
    private final List<String> waits = new ArrayList<>();

    /// @param epollPwait2 the value that the call returns
    Kernel(int epollPwait2) {
      this.epollPwait2 = epollPwait2;
    }

    @Override
    int epollWait(int epoll, long events, int most, int timeoutMillis) {
      waits.add(timeoutMillis + " ms");
      return 0;
    }

    @Override
    int epollPwait2(int epoll, long events, int most, long timeout) {
      var timespec = MemorySegment.ofAddress(timeout).reinterpret(2 * Long.BYTES);
      waits.add("%d s %d ns".formatted(timespec.get(JAVA_LONG, 0), timespec.get(JAVA_LONG, 8)));
      return epollPwait2;
    }
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
    inAccepted(Duration.ZERO, step);
  }

  private static void inAccepted(Duration unacknowledged, Step step) throws Exception {
    inAccepted(Sockets.EPOLL.open(), unacknowledged, step);
  }

  private static void inAccepted(Poller opened, Duration unacknowledged, Step step)
      throws Exception {
    try (var poller = opened) {
      var door = poller.listen(new InetSocketAddress("127.0.0.1", 0), 16, unacknowledged);
      door.open(door);
      try (var peer = new Socket("127.0.0.1", door.port())) {
        poller.poll(Duration.ofSeconds(30).toNanos(), (_, _, _) -> {});
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
