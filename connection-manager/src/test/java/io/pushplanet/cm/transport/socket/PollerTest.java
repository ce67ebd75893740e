package io.pushplanet.cm.transport.socket;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.common.testing.Eventually;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Both kinds of sockets behave alike.
@ParameterizedClass
@EnumSource(
    value = Sockets.class,
    names = {"EPOLL", "NIO"})
class PollerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String DOOR = "door";

  @Parameter Sockets sockets;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Map<Object, String> told = new HashMap<>();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(64 * 1024);
  private Poller poller;
  private ListeningSocket door;

  @BeforeEach
  void open() throws Exception {
    Assumptions.assumeTrue(sockets == Sockets.NIO || EpollPoller.isSupported());
    poller = sockets.open();
    door = poller.listen(new InetSocketAddress("127.0.0.1", 0), 16, Duration.ZERO);
    door.open(DOOR);
  }

  @AfterEach
  void close() throws Exception {
    for (var one : opened) {
      one.close();
    }
    if (poller != null) {
      door.close();
      poller.close();
    }
  }

  @Test
  void reports_connections_their_bytes_and_their_ends() throws Exception {
    var peer = connect();
    var wire = join("one");
    peer.getOutputStream().write("hello".getBytes(US_ASCII));

    await("one", "r");
    assertThat(read(wire)).isEqualTo("hello");
    assertThat(wire.read(buffer.clear())).isZero();

    peer.close();
    await("one", "r");
    assertThat(wire.read(buffer.clear())).isEqualTo(-1);
  }

  /// java.nio's selector cannot tell before all bytes are read.
  @Test
  void a_wire_tells_that_its_peer_has_left_while_bytes_are_unread() throws Exception {
    var peer = connect();
    var wire = join("one");
    peer.getOutputStream().write("hello".getBytes(US_ASCII));
    await("one", "r");
    assertThat(wire.hasPeerLeft()).isFalse();

    peer.close();

    if (sockets == Sockets.EPOLL) {
      Eventually.within(PATIENCE, () -> assertThat(wire.hasPeerLeft()).isTrue());
    }
    assertThat(read(wire)).isEqualTo("hello");
  }

  @Test
  void knows_the_source_of_a_connection() throws Exception {
    var peer = connect();
    await(DOOR, "r");
    var arrival = Objects.requireNonNull(door.accept());
    opened.add(arrival.wire()::close);

    assertThat(arrival.source()).isEqualTo(peer.getLocalAddress());
    assertThat(door.accept()).as("nobody else waits").isNull();
  }

  /// The kernel's socket timers: kind 2 is that of SO_KEEPALIVE, with its remaining time in
  /// hundredths of a second.
  @Test
  @EnabledOnOs(OS.LINUX)
  void the_kernel_asks_after_a_while_whether_a_silent_peer_is_there() throws Exception {
    connect();
    join("one");

    var timer = timerOfAccepted();
    assertThat(timer).startsWith("02:");
    assertThat(Duration.ofMillis(10 * Long.parseLong(timer.substring(3), 16)))
        .isBetween(Poller.KEEP_ALIVE_AFTER.dividedBy(2), Poller.KEEP_ALIVE_AFTER);
  }

  /// The connected socket (state 01) with our port on this side.
  private String timerOfAccepted() throws IOException {
    var ours = "%04X".formatted(door.port());
    for (var table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
      for (var line : Files.readAllLines(Path.of(table))) {
        var fields = line.strip().split("\\s+");
        if (fields[1].endsWith(":" + ours) && fields[3].equals("01")) {
          return fields[5];
        }
      }
    }
    throw new AssertionError("nobody is connected");
  }

  @Test
  void tells_of_bytes_until_they_have_been_read() throws Exception {
    var peer = connect();
    var wire = join("one");
    peer.getOutputStream().write(1);

    await("one", "r");
    await("one", "r");
    assertThat(wire.read(buffer.clear())).isEqualTo(1);
    assertThat(look()).doesNotContainKey("one");
  }

  @Test
  void reports_unwanted_bytes_only_once_they_are_wanted() throws Exception {
    var peer = connect();
    var wire = join("one");
    wire.reading(false);
    wire.reading(false);
    peer.getOutputStream().write(1);
    var second = connect();
    var other = join("two");
    second.getOutputStream().write(1);

    await("two", "r");
    assertThat(look()).doesNotContainKey("one");

    assertThat(other.read(buffer.clear())).isEqualTo(1);
    wire.reading(true);
    await("one", "r");
    assertThat(wire.read(buffer.clear())).isEqualTo(1);
  }

  @Test
  void a_reset_of_one_that_is_not_listened_to_does_not_keep_the_loop_busy() throws Exception {
    var peer = connect();
    var wire = join("one");
    wire.reading(false);
    peer.setSoLinger(true, 0);
    peer.close();
    var second = connect();
    join("two");
    second.getOutputStream().write(1);

    await("two", "r");
    assertThat(look()).doesNotContainKey("one");
    wire.reading(true);
    await("one", "r");
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> wire.read(buffer.clear()));
  }

  @Test
  void takes_what_the_kernel_has_room_for_and_tells_when_there_is_room_again() throws Exception {
    var peer = connect();
    var wire = join("one");
    long sent = 0;
    for (int written = fill(wire); written > 0; written = fill(wire)) {
      sent += written;
    }
    assertThat(look()).doesNotContainKey("one");
    wire.writing(true);

    long read = drain(peer, sent);

    await("one", "w");
    assertThat(read).isEqualTo(sent);
    assertThat(fill(wire)).isPositive();
    wire.writing(false);
    assertThat(look()).doesNotContainKey("one");
  }

  @Test
  void a_reset_by_the_peer_is_an_error_to_both_reader_and_writer() throws Exception {
    var peer = connect();
    var wire = join("one");
    wire.writing(true);
    peer.setSoLinger(true, 0);
    peer.close();

    await("one", "rw");
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> wire.read(buffer.clear()))
        .withMessageContaining("reset");
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> fill(wire));
  }

  @Test
  void our_reset_is_one_to_the_peer() throws Exception {
    var peer = connect();
    join("one").reset();
    look();

    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> peer.getInputStream().read())
        .withMessageContaining("reset");
  }

  @Test
  void after_our_goodbye_the_peer_is_still_heard() throws Exception {
    var peer = connect();
    var wire = join("one");
    wire.shutdownOutput();

    assertThat(peer.getInputStream().read()).isEqualTo(-1);
    peer.getOutputStream().write("bye".getBytes(US_ASCII));
    await("one", "r");
    assertThat(read(wire)).isEqualTo("bye");
  }

  @Test
  void a_closed_wire_does_not_touch_the_new_owner_of_its_descriptor() throws Exception {
    connect();
    var first = join("one");
    first.close();
    var peer = connect();
    var second = join("two");

    first.close();
    first.reset();
    first.reading(false);
    first.writing(true);
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> first.read(buffer.clear()));
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> first.write(buffer.clear().limit(1)));
    assertThatExceptionOfType(IOException.class).isThrownBy(first::shutdownOutput);

    peer.getOutputStream().write("still here".getBytes(US_ASCII));
    await("two", "r");
    assertThat(read(second)).isEqualTo("still here");
  }

  @Test
  void a_door_that_rests_lets_them_wait_in_the_kernels_line() throws Exception {
    door.listening(false);
    connect();
    connect();
    assertThat(look()).doesNotContainKey(DOOR);

    door.listening(true);
    for (int waiting = 0; waiting < 2; waiting++) {
      await(DOOR, "r");
      assertThat(door.accept()).isNotNull();
    }
    assertThat(door.accept()).isNull();
  }

  @Test
  void a_call_from_elsewhere_ends_the_wait_under_way_or_the_next_one() throws Exception {
    for (int time = 0; time < 3; time++) {
      poller.wakeup();
      assertWoken();
    }

    var waker =
        CompletableFuture.runAsync(
            poller::wakeup, CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS));
    assertWoken();
    waker.join();
    assertThat(told).isEmpty();
  }

  /// Woken before the end of its wait.
  private void assertWoken() throws IOException {
    long begun = System.nanoTime();
    poll();
    assertThat(System.nanoTime() - begun).isLessThan(PATIENCE.toNanos());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 200_000, 1_000_000, 1_500_000, 3_999_999})
  void a_wait_ends_of_itself_and_not_before_its_time(long nanos) throws Exception {
    for (int time = 0; time < 20; time++) {
      long begun = System.nanoTime();
      poller.poll(nanos, this::tell);
      assertThat(System.nanoTime() - begun).isBetween(nanos, PATIENCE.toNanos());
    }
    assertThat(told).isEmpty();
  }

  @Test
  void a_wait_for_ever_is_ended_by_a_call() throws Exception {
    var waker =
        CompletableFuture.runAsync(
            poller::wakeup, CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS));

    poller.poll(Long.MAX_VALUE, this::tell);

    waker.join();
    assertThat(told).isEmpty();
  }

  @Test
  void a_call_after_the_end_does_no_harm() throws Exception {
    poller.close();
    poller.wakeup();
    poller.close();
  }

  @Test
  void two_doors_share_a_port_and_a_port_that_another_program_has_is_refused() throws Exception {
    var same = poller.listen(new InetSocketAddress("127.0.0.1", door.port()), 16, Duration.ZERO);
    assertThat(same.port()).isEqualTo(door.port());
    same.close();

    try (var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var taken = new InetSocketAddress("127.0.0.1", other.getLocalPort());
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(() -> poller.listen(taken, 16, Duration.ZERO))
          .withMessageContaining("Address already in use");
    }
  }

  @Test
  void the_wildcard_takes_ipv4_and_names_it_as_it_is() throws Exception {
    var everywhere = poller.listen(new InetSocketAddress("0.0.0.0", 0), 16, Duration.ZERO);
    opened.add(everywhere::close);
    everywhere.open("everywhere");

    connect("127.0.0.1", everywhere.port());
    await("everywhere", "r");
    assertThat(Objects.requireNonNull(everywhere.accept()).source())
        .isInstanceOf(Inet4Address.class)
        .isEqualTo(InetAddress.getByName("127.0.0.1"));
  }

  @Test
  void the_wildcard_takes_ipv6_where_there_is_any() throws Exception {
    var loopback = InetAddress.getByName("::1");
    Assumptions.assumeTrue(NetworkInterface.getByInetAddress(loopback) != null);
    var everywhere = poller.listen(new InetSocketAddress("0.0.0.0", 0), 16, Duration.ZERO);
    opened.add(everywhere::close);
    everywhere.open("everywhere");

    connect("::1", everywhere.port());
    await("everywhere", "r");
    assertThat(Objects.requireNonNull(everywhere.accept()).source())
        .isInstanceOf(Inet6Address.class)
        .isEqualTo(loopback);
  }

  @Test
  void tells_more_sockets_than_fit_into_one_look() throws Exception {
    int many = 1_500;
    for (int owner = 0; owner < many; owner++) {
      var peer = connect();
      join(owner);
      peer.getOutputStream().write(1);
    }

    told.clear();
    poller.poll(0, this::tell);
    assertThat(told).as("one look").hasSizeLessThan(many);
    for (int owner = 0; owner < many; owner++) {
      await(owner, "r");
    }
  }

  @Test
  void places_of_closed_sockets_are_used_again() throws Exception {
    var left = new ArrayList<Wire>();
    for (int owner = 0; owner < 200; owner++) {
      connect();
      left.add(join("left " + owner));
    }
    left.forEach(Wire::close);
    for (int owner = 0; owner < 300; owner++) {
      var peer = connect();
      join(owner);
      peer.getOutputStream().write(1);
    }

    for (int owner = 0; owner < 300; owner++) {
      await(owner, "r");
    }
    assertThat(look().keySet()).allMatch(Integer.class::isInstance);
  }

  private Socket connect() throws IOException {
    return connect("127.0.0.1", door.port());
  }

  private Socket connect(String host, int port) throws IOException {
    var socket = new Socket(host, port);
    socket.setSoTimeout((int) PATIENCE.toMillis());
    opened.add(socket);
    return socket;
  }

  private Wire join(Object owner) throws IOException {
    await(DOOR, "r");
    var wire = Objects.requireNonNull(door.accept()).wire();
    opened.add(wire::close);
    wire.join(owner);
    return wire;
  }

  /// Polls until the owner is told this.
  private void await(Object owner, String what) throws IOException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    told.clear();
    while (!what.equals(told.get(owner))) {
      assertThat(System.nanoTime()).as("%s has not been told %s", owner, what).isLessThan(end);
      poll();
    }
  }

  /// The sockets that are ready now.
  private Map<Object, String> look() throws IOException {
    told.clear();
    poller.poll(0, this::tell);
    return told;
  }

  private void poll() throws IOException {
    poller.poll(PATIENCE.toNanos(), this::tell);
  }

  private void tell(Object owner, boolean readable, boolean writable) {
    told.put(owner, (readable ? "r" : "") + (writable ? "w" : ""));
  }

  private int fill(Wire wire) throws IOException {
    return wire.write(buffer.clear());
  }

  private String read(Wire wire) throws IOException {
    wire.read(buffer.clear());
    return US_ASCII.decode(buffer.flip()).toString();
  }

  private static long drain(Socket peer, long bytes) throws IOException {
    long read = 0;
    var room = new byte[64 * 1024];
    while (read < bytes) {
      read += peer.getInputStream().read(room);
    }
    return read;
  }
}
