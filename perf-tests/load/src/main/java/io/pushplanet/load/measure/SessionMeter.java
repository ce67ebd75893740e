package io.pushplanet.load.measure;

import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.node.Sender;
import io.pushplanet.load.node.Server;
import io.pushplanet.load.node.Usage;
import io.pushplanet.quickstart.process.Jvm;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Measures one server: fills it in steps with idle sessions, lets it idle, pings, reconnects,
/// sends.
///
/// The processor time of a connect and of a ping is the median of the rounds after the first four,
/// when a JVM has compiled its hot code: rounds of one run differ by a third. That of messages is
/// the mean of the last ten of sixteen rounds.
public final class SessionMeter {
  private static final String PREFIX = "0190b8a0";
  // Without it each write of a server pays for waking the fleet: a fifth of a message's cost.
  private static final Duration LOOKS_EVERY = Duration.ofMillis(1);
  private static final Duration SETTLED_AFTER = Duration.ofSeconds(3);
  private static final Duration IDLE = Duration.ofSeconds(20);
  private static final int WARM_ROUNDS = 4;
  private static final int CONNECT_ROUNDS = 12;
  private static final int PING_ROUNDS = 12;
  private static final int WARM_MESSAGES = 6;
  private static final int MESSAGES = 10;

  private final Server server;
  private final Path directory;
  private final PrintStream out;

  /// @param directory for class histograms and the fleet's log
  /// @param out receives the progress
  public SessionMeter(Server server, Path directory, PrintStream out) {
    this.server = server;
    this.directory = directory;
    this.out = out;
  }

  public SessionCosts measure(List<Integer> steps) {
    int most = steps.getLast();
    try (FleetProcess fleet =
        FleetProcess.startLooking(
            LOOKS_EVERY, server, PREFIX, directory.resolve("fleet-" + server.name() + ".log"))) {
      List<Memory> memory = fill(fleet, steps);
      double ping = ping(fleet, most);
      double connect = connect(fleet, most);
      List<Idle> idle = idle(fleet, steps);
      Messages acknowledged = messages(fleet, most, "QoS 1");
      fleet.leave();
      settle();
      fleet.connect(most, 0);
      Messages unacknowledged = messages(fleet, most, "QoS 0");
      return new SessionCosts(memory, idle, ping, connect, unacknowledged, acknowledged);
    }
  }

  /// Processor time in microseconds.
  ///
  /// @param fanOut of each device's copy of one message to all devices
  /// @param single of a message to a single device, of which many come together
  record Messages(double fanOut, OptionalDouble single) {}

  /// Connects more and more devices, and measures the memory at each step.
  public List<Memory> fill(FleetProcess fleet, List<Integer> steps) {
    List<Memory> memory = new ArrayList<>();
    for (int step : steps) {
      fleet.connect(step, 1);
      memory.add(memory(step));
    }
    return memory;
  }

  /// @param heapBytes live objects and direct buffers; 0 without a JVM
  /// @param residentBytes of a JVM its whole heap, and the memory outside of it
  public record Memory(int sessions, long heapBytes, long residentBytes) {
    /// Bytes of each further session, from the first to the last.
    public static double slope(List<Memory> memory, ToDoubleFunction<Memory> bytes) {
      Memory first = memory.getFirst();
      Memory last = memory.getLast();
      return (bytes.applyAsDouble(last) - bytes.applyAsDouble(first))
          / (last.sessions() - first.sessions());
    }
  }

  /// @param micros processor time of an idle second: of the process, and of its sessions
  record Idle(int sessions, double micros) {}

  private Memory memory(int sessions) {
    settle();
    long heap = 0;
    if (server.isJvm()) {
      try (Jvm jvm = Jvm.attach(server.pid())) {
        heap = jvm.liveBytes() + jvm.directBytes();
        Files.writeString(
            directory.resolve("histogram-" + server.name() + "-" + sessions + ".txt"),
            jvm.classHistogram());
      } catch (IOException e) {
        throw new UncheckedIOException("cannot keep the class histogram", e);
      }
    }
    long resident = Usage.of(server.pid()).residentBytes();
    say("%,d sessions: live heap and direct %,d, resident %,d bytes", sessions, heap, resident);
    return new Memory(sessions, heap, resident);
  }

  private List<Idle> idle(FleetProcess fleet, List<Integer> steps) {
    fleet.leave();
    List<Idle> idle = new ArrayList<>();
    for (int step : List.of(steps.getFirst(), steps.getLast())) {
      fleet.connect(step, 1);
      idle.add(idle(step));
    }
    return idle;
  }

  private Idle idle(int sessions) {
    settle();
    Usage before = Usage.of(server.pid());
    long start = System.nanoTime();
    LockSupport.parkNanos(IDLE.toNanos());
    double seconds = (System.nanoTime() - start) / 1e9;
    double micros = Usage.of(server.pid()).nanosSince(before) / 1e3 / seconds;
    say("%,d sessions, idle: %,.0f us of processor time a second", sessions, micros);
    return new Idle(sessions, micros);
  }

  private double ping(FleetProcess fleet, int devices) {
    List<Double> rounds = new ArrayList<>();
    for (int round = 0; round < PING_ROUNDS; round++) {
      Usage before = Usage.of(server.pid());
      long answered = fleet.ping();
      rounds.add(Usage.of(server.pid()).nanosSince(before) / 1e3 / Math.max(1, answered));
      if (answered < devices) {
        say("only %,d of %,d pings were answered", answered, devices);
      }
    }
    return median("ping", rounds);
  }

  private double connect(FleetProcess fleet, int devices) {
    List<Double> rounds = new ArrayList<>();
    for (int round = 0; round < CONNECT_ROUNDS; round++) {
      fleet.leave();
      settle();
      Usage before = Usage.of(server.pid());
      int connected = fleet.connect(devices, 1);
      rounds.add(Usage.of(server.pid()).nanosSince(before) / 1e3 / connected);
      // With some servers a round takes half a minute.
      say(
          "connected %,d, round %d of %d: %.2f us",
          connected, round + 1, CONNECT_ROUNDS, rounds.getLast());
    }
    return median("connect, log in, subscribe", rounds);
  }

  private double median(String what, List<Double> rounds) {
    double median = median(rounds);
    String all = rounds.stream().map(SessionMeter::hundredths).collect(Collectors.joining(" "));
    say("%s: %.2f us (rounds %s)", what, median, all);
    return median;
  }

  /// The middle one of the rounds after the warm-up, or the mean of the middle two.
  static double median(List<Double> rounds) {
    List<Double> warm = rounds.stream().skip(WARM_ROUNDS).sorted().toList();
    return (warm.get((warm.size() - 1) / 2) + warm.get(warm.size() / 2)) / 2;
  }

  private static String hundredths(double micros) {
    return String.format(Locale.ROOT, "%.2f", micros);
  }

  private Messages messages(FleetProcess fleet, int devices, String what) {
    double fanOut;
    try (Sender sender = server.fanOut()) {
      fanOut = each(sender, fleet, devices, "fan-out at " + what);
    }
    Optional<Sender> singles = server.singles();
    if (singles.isEmpty()) {
      return new Messages(fanOut, OptionalDouble.empty());
    }
    try (Sender sender = singles.get()) {
      return new Messages(
          fanOut, OptionalDouble.of(each(sender, fleet, devices, "single devices at " + what)));
    }
  }

  /// One message to all devices at a time; the next when all have it.
  private double each(Sender sender, FleetProcess fleet, int devices, String what) {
    List<Device> all =
        IntStream.range(0, devices).mapToObj(n -> FleetProcess.device(PREFIX, n)).toList();
    long sent = fleet.counts().received();
    Usage before = Usage.of(server.pid());
    for (int message = 0; message < WARM_MESSAGES + MESSAGES; message++) {
      if (message == WARM_MESSAGES) {
        before = Usage.of(server.pid());
      }
      sender.send(all);
      sent += devices;
      long received = fleet.awaitReceived(sent);
      if (received < sent) {
        throw new IllegalStateException(
            server.name() + " lost messages: " + received + " of " + sent + " came");
      }
    }
    settle();
    double micros = Usage.of(server.pid()).nanosSince(before) / 1e3 / (1.0 * devices * MESSAGES);
    say("%s: %.2f us", what, micros);
    return micros;
  }

  private static void settle() {
    LockSupport.parkNanos(SETTLED_AFTER.toNanos());
  }

  private void say(String format, Object... values) {
    out.println(server.name() + ": " + String.format(Locale.ROOT, format, values));
  }
}
