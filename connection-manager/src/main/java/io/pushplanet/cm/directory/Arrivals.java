package io.pushplanet.cm.directory;

import io.micrometer.core.instrument.Counter;
import io.pushplanet.cm.directory.Directory.Remembered;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices.Bequest;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The devices whose connections are between claim and table, and what other nodes say of them meanwhile, when there is no
/// session yet that could be told ([why so](RATIONALE.md)). Thread-safe.
final class Arrivals {
  private final ConcurrentHashMap<DeviceKey, Arriving> arriving = new ConcurrentHashMap<>();
  private final Duration formerWithin;
  private final Registrar.Timer timer;
  private final Counter unanswered;

  /// Connections of one device between claim and table.
  ///
  /// @param heard the highest epoch that another node was heard to have meanwhile, or under which the device was deleted
  /// @param left what a former node has said meanwhile
  /// @param heir who waits for that
  private record Arriving(int claims, long heard, @Nullable Bequest left, @Nullable Heir heir) {
    private static final Arriving ONE = new Arriving(1, 0, null, null);

    Arriving with(int others) {
      return new Arriving(others, heard, left, heir);
    }

    Arriving hearing(long epoch) {
      return new Arriving(claims, Math.max(heard, epoch), left, heir);
    }

    /// Who has left a session also says, once the claim is heard, that it has nothing more.
    Arriving left(Bequest told) {
      boolean isLess = left != null && !left.session().isEmpty() && told.session().isEmpty();
      return new Arriving(claims, heard, isLess ? left : told, heir);
    }

    Arriving waiting(Heir now) {
      return new Arriving(claims, heard, left, now);
    }
  }

  /// A claim that waits for the node that had the device under the epoch `former`.
  private static final class Heir {
    private final long former;
    private final Consumer<Optional<Remembered>> then;
    private final AtomicBoolean done = new AtomicBoolean();

    Heir(long former, Consumer<Optional<Remembered>> then) {
      this.former = former;
      this.then = then;
    }

    /// Of a later epoch speaks a node that does not know under which it had the device, for it has nothing of it.
    boolean isMeant(Bequest told) {
      return told.epoch() >= former;
    }

    /// @return whether it waited until now
    boolean hear(Optional<Remembered> session) {
      boolean waited = done.compareAndSet(false, true);
      if (waited) {
        then.accept(session);
      }
      return waited;
    }
  }

  /// @param formerWithin how long a former node is waited for
  /// @param unanswered former nodes that said nothing within that time
  Arrivals(Duration formerWithin, Registrar.Timer timer, Counter unanswered) {
    this.formerWithin = formerWithin;
    this.timer = timer;
    this.unanswered = unanswered;
  }

  /// One more connection of the device sets out; ends with [#arrived].
  void setOut(DeviceKey device) {
    arriving.merge(device, Arriving.ONE, (others, _) -> others.with(others.claims() + 1));
  }

  /// Devices with connections between claim and table.
  int size() {
    return arriving.size();
  }

  /// A copy.
  Set<DeviceKey> devices() {
    return Set.copyOf(arriving.keySet());
  }

  /// Whether a connection of the device is between claim and table. Who asks for its session afterwards finds it there, if it was on its way before.
  boolean isArriving(DeviceKey device) {
    return arriving.containsKey(device);
  }

  /// @return whether no other node was heard to have claimed the device after this epoch, or with it, nor that it was deleted
  boolean arrived(DeviceKey device, long epoch) {
    var before = new long[1];
    arriving.computeIfPresent(
        device,
        (_, all) -> {
          before[0] = all.heard();
          return all.claims() == 1 ? null : all.with(all.claims() - 1);
        });
    return before[0] < epoch;
  }

  /// Whoever has claimed one of them under this epoch, or a lower one, has lost it again.
  ///
  /// @return whether it is one of them
  boolean takenOver(DeviceKey device, long epoch) {
    return arriving.computeIfPresent(device, (_, all) -> all.hearing(epoch)) != null;
  }

  /// The device was connected elsewhere until now: that node says when it has let the device go, and how the session was ([#left]). Until then it
  /// still delivers, and what it was about to deliver comes here next. One that stands still or is cut off says nothing, and has no session to leave.
  void askFormer(DeviceKey device, SessionOwner former, Consumer<Optional<Remembered>> then) {
    var heir = new Heir(former.epoch(), then);
    var now = arriving.computeIfPresent(device, (_, all) -> all.waiting(heir));
    if (now == null) {
      heir.hear(Optional.empty());
    } else if (now.left() != null && heir.isMeant(now.left())) {
      heir.hear(Remembered.read(now.left()));
    } else {
      timer.after(
          formerWithin,
          () -> {
            if (heir.hear(Optional.empty())) {
              unanswered.increment();
            }
          });
    }
  }

  /// The node that had one of them says how its session was.
  void left(Bequest told) {
    var now = arriving.computeIfPresent(told.device(), (_, all) -> all.left(told));
    if (now != null && now.heir() != null && now.heir().isMeant(told)) {
      now.heir().hear(Remembered.read(told));
    }
  }
}
