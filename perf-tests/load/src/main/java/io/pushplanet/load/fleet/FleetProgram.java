package io.pushplanet.load.fleet;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.load.mqtt.MqttVersion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// A fleet as a program: one command per line on standard input, one answer per line on standard
/// output. It ends with its input, also during a command.
public final class FleetProgram {
  /// The environment variable with the key that signs the devices' credentials.
  public static final String MASTER_KEY = "FLEET_MASTER_KEY";

  private static final AppId APP = new AppId("bench");
  private static final Duration KEEP_ALIVE = Duration.ofMinutes(20);
  private static final Duration CONNECTED_WITHIN = Duration.ofMinutes(5);
  private static final Duration STALLED_AFTER = Duration.ofSeconds(30);

  private final InetSocketAddress server;
  private final String prefix;
  private final DeviceCredential credential;
  private final int atOnce;
  private final Duration looksEvery;
  private final @Nullable TlsDevices tls;

  /// The messages since `note`; null before it, because a bench may send millions.
  private volatile @Nullable Sightings sightings;

  private @Nullable Fleet fleet;
  private int fleets;
  private int devices;

  private FleetProgram(
      InetSocketAddress server,
      String prefix,
      int atOnce,
      Duration looksEvery,
      @Nullable TlsDevices tls,
      MasterKey masterKey) {
    this.server = server;
    this.prefix = prefix;
    this.atOnce = atOnce;
    this.looksEvery = looksEvery;
    this.tls = tls;
    this.credential = new DeviceCredential(masterKey, Clock.systemUTC());
  }

  /// Arguments: host, port, prefix of device ids, concurrent connects, microseconds between reads
  /// (0: at once); and a PEM file with the server's certificate for devices that use TLS: these can
  /// only connect and leave.
  public static void main(String[] arguments) throws IOException {
    var server = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
    var program =
        new FleetProgram(
            server,
            arguments[2],
            Integer.parseInt(arguments[3]),
            Duration.of(Long.parseLong(arguments[4]), ChronoUnit.MICROS),
            arguments.length > 5 ? new TlsDevices(server, Path.of(arguments[5])) : null,
            MasterKey.parse(System.getenv(MASTER_KEY)));
    Commands.answer(System.in, System.out, program::answer);
  }

  /// A device of such a fleet, without its password. Its id is as long as the dispatcher's ids.
  public static Device device(String prefix, int number) {
    return device(prefix, number, "");
  }

  /// A device with a password that is valid for a day.
  public static Device device(String prefix, int number, DeviceCredential credential) {
    Device device = device(prefix, number);
    return device(prefix, number, credential.mint(device.app(), device.id(), Duration.ofDays(1)));
  }

  private static Device device(String prefix, int number, String password) {
    String id = String.format(Locale.ROOT, "%s-0000-7000-8000-%012d", prefix, number);
    return new Device(APP, new DeviceId(id), new Secret(password), MqttVersion.V3_1_1);
  }

  private String answer(String line) {
    // A path may contain blanks: only `sightings` has one, and nothing after it.
    String[] command = line.split(" ", line.startsWith("sightings ") ? 2 : 0);
    return switch (command[0]) {
      case "connect" -> connect(Integer.parseInt(command[1]), Integer.parseInt(command[2]));
      case "storm" -> storm();
      case "subscribe" -> subscribe(Integer.parseInt(command[1]));
      case "leave" -> leave();
      case "ping" -> ping();
      case "received" -> received(Long.parseLong(command[1]));
      case "note" -> note();
      case "sightings" -> save(Path.of(command[1]));
      case "counts" ->
          (fleet == null ? new FleetCounts(0, 0, 0, 0, 0, 0, 0) : fleet.counts()).text();
      case "troubles" -> fleet == null ? "none" : fleet.counts() + " " + fleet.reasons();
      default -> "failed: no such command";
    };
  }

  private String connect(int wanted, int qos) {
    FleetSettings settings =
        FleetSettings.DEFAULT
            .withKeepAlive(KEEP_ALIVE)
            .subscribingAt(qos)
            .connectingAtOnce(atOnce)
            .lookingEvery(looksEvery)
            .forgetting();
    List<Device> more =
        IntStream.range(devices, wanted)
            .mapToObj(number -> device(prefix, number, credential))
            .toList();
    devices = wanted;
    if (tls != null) {
      tls.connect(more, settings);
      return Integer.toString(tls.size());
    }
    Fleet current = fleet;
    if (current == null) {
      current =
          Fleet.start(
              server,
              settings,
              Sources.ofLoopback(ProcessHandle.current().pid(), fleets++),
              this::arrived,
              new SplittableRandom());
      fleet = current;
    }
    current.add(more);
    return current.awaitReady(CONNECTED_WITHIN)
        ? Integer.toString(current.counts().ready())
        : "failed: " + current.counts() + " " + current.reasons();
  }

  private void arrived(DeviceId device, String messageId, long nanos) {
    Sightings noted = sightings;
    if (noted != null) {
      noted.arrived(device, messageId, nanos);
    }
  }

  private String note() {
    sightings = new Sightings();
    return "noted";
  }

  private String save(Path file) {
    Sightings noted = sightings;
    if (noted == null) {
      return "failed: nothing was noted";
    }
    noted.save(file);
    return Long.toString(noted.total());
  }

  private String storm() {
    Fleet current = fleet;
    if (current == null) {
      return "0";
    }
    current.cutAll();
    current.awaitReady(CONNECTED_WITHIN);
    return Integer.toString(current.counts().ready());
  }

  private String leave() {
    if (fleet != null) {
      fleet.close();
      fleet = null;
    }
    if (tls != null) {
      tls.close();
    }
    devices = 0;
    return "left";
  }

  private String subscribe(int qos) {
    Fleet current = fleet;
    if (current == null) {
      return "0";
    }
    long before = current.subscriptions();
    current.subscribeAll(qos);
    return Long.toString(await(before + devices, current::subscriptions) - before);
  }

  private String ping() {
    Fleet current = fleet;
    if (current == null) {
      return "0";
    }
    long before = current.pongs();
    current.pingAll();
    return Long.toString(await(before + devices, current::pongs) - before);
  }

  private String received(long messages) {
    Fleet current = fleet;
    return current == null
        ? "0"
        : Long.toString(await(messages, () -> current.counts().received()));
  }

  /// Waits until the count is reached or has not moved for a while.
  private static long await(long wanted, LongSupplier count) {
    long last = count.getAsLong();
    long movedNanos = System.nanoTime();
    while (last < wanted && System.nanoTime() - movedNanos < STALLED_AFTER.toNanos()) {
      LockSupport.parkNanos(Duration.ofMillis(2).toNanos());
      long now = count.getAsLong();
      if (now != last) {
        last = now;
        movedNanos = System.nanoTime();
      }
    }
    return last;
  }
}
