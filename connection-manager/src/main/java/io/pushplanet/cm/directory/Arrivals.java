package io.pushplanet.cm.directory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.Counter;
import io.pushplanet.cm.directory.Directory.Remembered;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices.Bequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The devices whose connections are between claim and table, and what other nodes say of them meanwhile, when there is no
/// session yet that could be told ([why so](RATIONALE.md)). Thread-safe.
final class Arrivals {
  private static final int MOST_WORDS = 8;

  private final ConcurrentHashMap<DeviceKey, Arriving> arriving = new ConcurrentHashMap<>();
  private final Duration formerWithin;
  private final Registrar.Timer timer;
  private final Counter unanswered;

  /// Connections of one device between claim and table.
  ///
  /// @param heard the highest epoch that another node was heard to have meanwhile, or under which the device was deleted
  /// @param claimed the highest epoch under which the directory gave it to one of them
  /// @param newest the highest epoch of one of them, also one that the directory did not give
  /// @param words what other nodes have said meanwhile, the last [#MOST_WORDS]
  /// @param heirs who waits for that, or has waited
  private record Arriving(
      int claims, long heard, long claimed, long newest, List<Bequest> words, List<Heir> heirs) {
    private static final Arriving ONE = new Arriving(1, 0, 0, 0, List.of(), List.of());

    Arriving with(int others) {
      return new Arriving(others, heard, claimed, newest, words, heirs);
    }

    Arriving hearing(long epoch) {
      return new Arriving(claims, Math.max(heard, epoch), claimed, newest, words, heirs);
    }

    Arriving left(Bequest told) {
      var last = words.size() < MOST_WORDS ? words : words.subList(1, MOST_WORDS);
      return new Arriving(claims, heard, claimed, newest, added(last, told), heirs);
    }

    Arriving claiming(long epoch, @Nullable Heir heir) {
      var waiting = heir == null ? heirs : added(heirs, heir);
      long newer = Math.max(newest, epoch);
      return new Arriving(claims, heard, Math.max(claimed, epoch), newer, words, waiting);
    }

    Arriving presuming(long epoch) {
      return new Arriving(claims, heard, claimed, epoch, words, heirs);
    }

    private static <T> List<T> added(List<T> some, T one) {
      var all = new ArrayList<>(some);
      all.add(one);
      return List.copyOf(all);
    }

    /// How the session was, where somebody has said so: of several words one that names a session.
    Optional<Bequest> wordFor(Heir heir) {
      return words.stream()
          .filter(heir::isMeant)
          .max(Comparator.comparing(told -> !told.session().isEmpty()));
    }
  }

  /// A claim that waits for the node that had the device.
  static final class Heir {
    private final long claim;
    private final long former;

    @GuardedBy("this")
    private @Nullable Optional<Remembered> word;

    @GuardedBy("this")
    private Consumer<Optional<Remembered>> listener = _ -> {};

    /// @param claim its epoch
    /// @param former the epoch of the session that the device had
    private Heir(long claim, long former) {
      this.claim = claim;
      this.former = former;
    }

    /// Another claim on this node, behind this one.
    private Heir next() {
      return new Heir(claim, former);
    }

    /// An answer names the epoch before the claim. A node that let the device go without having heard of the claim names its
    /// own.
    private boolean isMeant(Bequest told) {
      return told.epoch() == claim - 1 || told.epoch() == former;
    }

    private synchronized boolean isWaiting() {
      return word == null;
    }

    /// @return whether it waited until now
    private boolean hear(Optional<Remembered> session) {
      Consumer<Optional<Remembered>> then;
      synchronized (this) {
        if (word != null) {
          return false;
        }
        word = session;
        then = listener;
      }
      then.accept(session);
      return true;
    }

    private void listen(Consumer<Optional<Remembered>> then) {
      Optional<Remembered> heard;
      synchronized (this) {
        heard = word;
        listener = then;
      }
      if (heard != null) {
        then.accept(heard);
      }
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

  /// What a connection finds that comes into the table.
  enum Arrival {
    /// The device is this connection's.
    NEWEST,
    /// The same by this node's word alone, for the directory gave no epoch.
    PRESUMED,
    /// Another connection was given the device since, or it was deleted.
    OUTRUN
  }

  /// A later claim on this node counts as one elsewhere does: where its connection is gone already, the end of that deletes the entry in the directory.
  Arrival arrived(DeviceKey device, long epoch) {
    var found = new AtomicReference<>(Arriving.ONE);
    arriving.computeIfPresent(
        device,
        (_, all) -> {
          found.set(all);
          return all.claims() == 1 ? null : all.with(all.claims() - 1);
        });
    var all = found.get();
    if (all.heard() >= epoch || all.newest() > epoch) {
      return Arrival.OUTRUN;
    }
    return all.claimed() < epoch ? Arrival.PRESUMED : Arrival.NEWEST;
  }

  /// A claim that the directory has not answered.
  ///
  /// @param least of its epoch
  /// @return its epoch, above those of the claims before it
  long presume(DeviceKey device, long least) {
    var now =
        arriving.computeIfPresent(
            device, (_, all) -> all.presuming(Math.max(least, all.newest() + 1)));
    return now == null ? least : now.newest();
  }

  /// Whoever has claimed one of them under this epoch, or a lower one, has lost it again.
  ///
  /// @return whether there may be such a one
  boolean takenOver(DeviceKey device, long epoch) {
    var now = arriving.computeIfPresent(device, (_, all) -> all.hearing(epoch));
    return now != null && now.claimed() < epoch;
  }

  /// A claim has its epoch. Call in the order in which the directory gave them, for a claim behind one on this node waits for
  /// the same former node.
  ///
  /// @param former the session of the device on another node, which was told of the claim
  /// @return for [#await]; empty where no other node is waited for
  Optional<Heir> claimed(DeviceKey device, long claim, Optional<SessionOwner> former) {
    var made = new AtomicReference<@Nullable Heir>();
    arriving.computeIfPresent(
        device,
        (_, all) -> {
          made.set(
              former
                  .map(owner -> new Heir(claim, owner.epoch()))
                  .or(() ->
                      all.heirs().stream().filter(Heir::isWaiting).findFirst().map(Heir::next))
                  .orElse(null));
          return all.claiming(claim, made.get());
        });
    return Optional.ofNullable(made.get());
  }

  /// The node that had the device says when it has let it go, and how the session was ([#left]). Until then it still delivers,
  /// and what it was about to deliver comes here next. A node that stands still or is cut off says nothing.
  ///
  /// @param then hears how the session was, on any thread, after `formerWithin` at the latest; at once where the word is here
  ///     already
  void await(DeviceKey device, Heir heir, Consumer<Optional<Remembered>> then) {
    var now = arriving.get(device);
    if (now != null) {
      now.wordFor(heir).ifPresent(told -> heir.hear(Remembered.read(told)));
    }
    if (heir.isWaiting()) {
      timer.after(
          formerWithin,
          () -> {
            if (heir.hear(Optional.empty())) {
              unanswered.increment();
            }
          });
    }
    heir.listen(then);
  }

  /// A node that had one of them says how its session was.
  void left(Bequest told) {
    var now = arriving.computeIfPresent(told.device(), (_, all) -> all.left(told));
    if (now != null) {
      now.heirs().stream()
          .filter(heir -> heir.isMeant(told))
          .forEach(heir -> heir.hear(Remembered.read(told)));
    }
  }
}
