package io.pushplanet.cm.directory;

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
import java.util.concurrent.atomic.AtomicBoolean;
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
  /// @param words what other nodes have said meanwhile, the last [#MOST_WORDS]
  /// @param heirs who waits for that, or has waited
  private record Arriving(
      int claims, long heard, long claimed, List<Bequest> words, List<Heir> heirs) {
    private static final Arriving ONE = new Arriving(1, 0, 0, List.of(), List.of());

    Arriving with(int others) {
      return new Arriving(others, heard, claimed, words, heirs);
    }

    Arriving hearing(long epoch) {
      return new Arriving(claims, Math.max(heard, epoch), claimed, words, heirs);
    }

    Arriving left(Bequest told) {
      var last = words.size() < MOST_WORDS ? words : words.subList(1, MOST_WORDS);
      return new Arriving(claims, heard, claimed, added(last, told), heirs);
    }

    Arriving claiming(long epoch, @Nullable Heir heir) {
      var waiting = heir == null ? heirs : added(heirs, heir);
      return new Arriving(claims, heard, Math.max(claimed, epoch), words, waiting);
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
  private static final class Heir {
    private final long claim;
    private final long former;
    private final Consumer<Optional<Remembered>> then;
    private final AtomicBoolean done = new AtomicBoolean();

    /// @param claim its epoch
    /// @param former the epoch of who had the device
    Heir(long claim, long former, Consumer<Optional<Remembered>> then) {
      this.claim = claim;
      this.former = former;
      this.then = then;
    }

    /// Another claim on this node, behind this one.
    Heir next(Consumer<Optional<Remembered>> its) {
      return new Heir(claim, former, its);
    }

    /// An answer names the epoch before the claim. Who left without having heard of the claim names his own.
    boolean isMeant(Bequest told) {
      return told.epoch() == claim - 1 || told.epoch() == former;
    }

    boolean isWaiting() {
      return !done.get();
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
  /// @return whether there may be such a one
  boolean takenOver(DeviceKey device, long epoch) {
    var now = arriving.computeIfPresent(device, (_, all) -> all.hearing(epoch));
    return now != null && now.claimed() < epoch;
  }

  /// A claim has its epoch. Where the device was connected elsewhere until now, that node says when it has let it go, and how the session was ([#left]). Until then it
  /// still delivers, and what it was about to deliver comes here next. One that stands still or is cut off says nothing, and has no session to leave. A claim behind one on
  /// this node that waits for such a word waits with it.
  ///
  /// @param former who was told of the claim
  /// @param then hears how the session was, on any thread; at once where the word is here already
  /// @return false where nobody is waited for: `then` is not called
  boolean awaits(
      DeviceKey device,
      long claim,
      Optional<SessionOwner> former,
      Consumer<Optional<Remembered>> then) {
    var made = new AtomicReference<@Nullable Heir>();
    var now =
        arriving.computeIfPresent(
            device,
            (_, all) -> {
              made.set(
                  former
                      .map(owner -> new Heir(claim, owner.epoch(), then))
                      .or(() ->
                          all.heirs().stream()
                              .filter(Heir::isWaiting)
                              .findFirst()
                              .map(ahead -> ahead.next(then)))
                      .orElse(null));
              return all.claiming(claim, made.get());
            });
    var heir = made.get();
    if (now == null || heir == null) {
      return false;
    }
    now.wordFor(heir)
        .ifPresentOrElse(
            told -> heir.hear(Remembered.read(told)),
            () ->
                timer.after(
                    formerWithin,
                    () -> {
                      if (heir.hear(Optional.empty())) {
                        unanswered.increment();
                      }
                    }));
    return true;
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
