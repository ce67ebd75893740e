package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.directory.Directory.Announced;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.directory.Directory.RememberedSession;
import io.pushplanet.cm.directory.Registrar.Claim;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/// A registrar with a directory, workers and timers that run at once, or are run by hand.
abstract class RegistrarScene {
  static final DeviceKey DEVICE = new DeviceKey(new AppId("shop"), new DeviceId("d1"));
  static final Subscription AT_ONE = Subscription.of(QoS.AT_LEAST_ONCE, 0);
  static final long EPOCH = 7;
  static final long ENDS = 70;

  final MutableClock clock = MutableClock.started();
  final MockClock meterClock = new MockClock();
  final SimpleMeterRegistry meters = new SimpleMeterRegistry(SimpleConfig.DEFAULT, meterClock);
  final SessionMetrics metrics = new SessionMetrics(meters);
  final SessionTable table = new SessionTable();
  final Asked directory = new Asked();
  final List<Runnable> timers = new ArrayList<>();
  final AtomicInteger looks = new AtomicInteger();
  Runnable whileLooking = () -> {};
  boolean parkedAway;
  final Registrar registrar = registrar(Runnable::run, Runnable::run);
  final DeviceSession session = session(DEVICE);

  Registrar registrar(Executor workers, Executor sender) {
    return new Registrar(
        directory,
        new NodeId("a"),
        table,
        this::parkedAmong,
        meters,
        clock,
        new DirectorySettings(
            100,
            Duration.ofSeconds(5),
            Duration.ofSeconds(1),
            Duration.ZERO,
            Duration.ofMinutes(5),
            Duration.ofDays(1_000)),
        workers,
        sender,
        (_, task) -> timers.add(task));
  }

  double count(String meter) {
    return meters.get(meter).counter().count();
  }

  /// Claims the device for another connection, which gets this epoch.
  Claim.Taken claimed(DeviceKey device, long epoch) {
    directory.claimed = new Answer.Claimed(epoch, Optional.empty(), false, Optional.empty());
    var claims = new ArrayList<Claim>();
    registrar.claim(device, FormerSession.FORGET, ENDS, new QuietClient().loop(), claims::add);
    return (Claim.Taken) claims.getFirst();
  }

  /// As many sessions, which the directory knows.
  List<DeviceSession> known(int sessions, AsksForParked client) {
    var all = IntStream.range(0, sessions).mapToObj(n -> session(device("a" + n), client)).toList();
    all.forEach(each -> directory.owned.put(each.key(), new SessionOwner(new NodeId("a"), EPOCH)));
    client.times = 0;
    return all;
  }

  Optional<Collection<DeviceKey>> parkedAmong(List<DeviceKey> devices) {
    looks.incrementAndGet();
    whileLooking.run();
    return parkedAway ? Optional.empty() : Optional.of(devices);
  }

  static final class AsksForParked extends QuietClient {
    int times;

    @Override
    public void askForParked() {
      times++;
    }
  }

  static DeviceKey device(String id) {
    return new DeviceKey(DEVICE.app(), new DeviceId(id));
  }

  List<Claim> claimed(FormerSession wish) {
    directory.claimed =
        new Answer.Claimed(
            EPOCH + 1,
            Optional.of(new SessionOwner(new NodeId("b"), EPOCH)),
            directory.heard,
            directory.remembered);
    var claims = new ArrayList<Claim>();
    assertThat(registrar.claim(DEVICE, wish, ENDS, new QuietClient().loop(), claims::add)).isTrue();
    return claims;
  }

  DeviceSession session(DeviceKey device) {
    return session(device, new QuietClient().loop());
  }

  DeviceSession session(DeviceKey device, Loop loop) {
    return session(device, new QuietClient(loop));
  }

  DeviceSession session(DeviceKey device, QuietClient client) {
    var shared =
        new DeviceSession.Shared(
            new SessionLimits(16, 128, Duration.ofSeconds(2), Duration.ZERO, Duration.ofMinutes(1)),
            metrics,
            new LateAcknowledgements(1, _ -> {}),
            clock);
    var made =
        new DeviceSession(
            device, EPOCH, ENDS, new SessionTerms(16, 1 << 20, 3_600), shared, client);
    made.subscribe(AT_ONE);
    table.put(made);
    return made;
  }

  /// Knows no owner at first, and accepts every announcement.
  static final class Asked implements Directory {
    final List<Command> commands = new ArrayList<>();
    final List<Map<DeviceKey, Announced>> announced = new ArrayList<>();
    Runnable meanwhile = () -> {};
    Runnable whileClaiming = () -> {};
    Optional<RememberedSession> remembered = Optional.empty();
    boolean heard = true;
    Runnable whileAsked = () -> {};
    Answer claimed = new Answer.Done();
    final List<DeviceKey> asked = new ArrayList<>();
    final Map<DeviceKey, SessionOwner> owned = new HashMap<>();
    final Set<DeviceKey> denied = new HashSet<>();
    boolean isAway;
    boolean denialsAway;
    int askedForDenials;

    @Override
    public List<Answer> execute(List<Command> some) {
      if (isAway) {
        throw new RedisUnavailable("away", null);
      }
      commands.addAll(some);
      whileClaiming.run();
      return some.stream()
          .map(command -> command instanceof Command.Claim ? claimed : new Answer.Done())
          .toList();
    }

    @Override
    public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
      if (isAway) {
        throw new RedisUnavailable("away", null);
      }
      asked.addAll(devices);
      whileAsked.run();
      return owned;
    }

    @Override
    public Announcement announce(Map<DeviceKey, Announced> sessions) {
      announced.add(sessions);
      meanwhile.run();
      var owners = new HashMap<DeviceKey, SessionOwner>();
      sessions.forEach((device, session) -> {
        if (!denied.contains(device)) {
          owners.put(device, new SessionOwner(new NodeId("a"), session.epoch()));
        }
      });
      return new Announcement(owners, denied);
    }

    @Override
    public Set<DeviceKey> denied(Map<DeviceKey, Long> passwordEnds) {
      askedForDenials++;
      if (denialsAway) {
        throw new RedisUnavailable("away", null);
      }
      return denied;
    }
  }
}
