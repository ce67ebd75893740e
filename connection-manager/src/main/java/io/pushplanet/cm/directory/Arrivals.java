package io.pushplanet.cm.directory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.micrometer.core.instrument.Counter;
import io.pushplanet.cm.directory.Directory.RememberedSession;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionNotice.SessionRelease;
import io.pushplanet.common.session.SessionOwner;
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

/// The connections that are between claim and table, and the notices that other nodes send of their
/// devices meanwhile, when the table has no session yet that could receive them
/// ([why so](RATIONALE.md)). Thread-safe.
final class Arrivals {
  private static final int MAX_RELEASES = 8;

  private final ConcurrentHashMap<DeviceKey, Arriving> arriving = new ConcurrentHashMap<>();
  private final Duration formerWithin;
  private final Registrar.Timer timer;
  private final Counter unanswered;

  /// Connections of one device between claim and table.
  ///
  /// @param heard the highest epoch under which another node claimed the device meanwhile, or under
  ///     which it was deleted or got another user
  /// @param claimed the highest epoch under which the directory gave the device to one of them
  /// @param newest the highest epoch of one of them, also one that the directory did not give
  /// @param releases of former owners meanwhile, the last [#MAX_RELEASES]
  /// @param waiting claims that wait for a release, or have waited
  private record Arriving(
      int claims,
      long heard,
      long claimed,
      long newest,
      List<SessionRelease> releases,
      List<WaitingClaim> waiting) {
    private static final Arriving ONE = new Arriving(1, 0, 0, 0, List.of(), List.of());

    Arriving with(int others) {
      return new Arriving(others, heard, claimed, newest, releases, waiting);
    }

    Arriving hearing(long epoch) {
      return new Arriving(claims, Math.max(heard, epoch), claimed, newest, releases, waiting);
    }

    Arriving releasedBy(SessionRelease release) {
      List<SessionRelease> last =
          releases.size() < MAX_RELEASES ? releases : releases.subList(1, MAX_RELEASES);
      return new Arriving(claims, heard, claimed, newest, added(last, release), waiting);
    }

    Arriving claiming(long epoch, @Nullable WaitingClaim claim) {
      List<WaitingClaim> all = claim == null ? waiting : added(waiting, claim);
      long newer = Math.max(newest, epoch);
      return new Arriving(claims, heard, Math.max(claimed, epoch), newer, releases, all);
    }

    Arriving presuming(long epoch) {
      return new Arriving(claims, heard, claimed, epoch, releases, waiting);
    }

    private static <T> List<T> added(List<T> some, T one) {
      var all = new ArrayList<>(some);
      all.add(one);
      return List.copyOf(all);
    }

    /// Of several releases that answer the claim, the one that says most of a session.
    Optional<SessionRelease> answerTo(WaitingClaim claim) {
      return releases.stream()
          .filter(claim::isAnsweredBy)
          .max(
              Comparator.comparing((SessionRelease release) -> !release.session().isEmpty())
                  .thenComparing(release -> release.unacknowledged().size()));
    }
  }

  /// A claim that waits until the former owner has released the device.
  static final class WaitingClaim {
    private final long epoch;
    private final long formerEpoch;

    @GuardedBy("this")
    private @Nullable Optional<RememberedSession> answer;

    @GuardedBy("this")
    private Consumer<Optional<RememberedSession>> listener = _ -> {};

    private WaitingClaim(long epoch, long formerEpoch) {
      this.epoch = epoch;
      this.formerEpoch = formerEpoch;
    }

    /// A later claim on this node waits for the same release.
    private WaitingClaim next() {
      return new WaitingClaim(epoch, formerEpoch);
    }

    /// An answer to the claim carries the epoch before it. A former owner that released the device
    /// before it heard of the claim sends its own epoch.
    private boolean isAnsweredBy(SessionRelease release) {
      return release.epoch() == epoch - 1 || release.epoch() == formerEpoch;
    }

    private boolean waitsWith(WaitingClaim other) {
      return epoch == other.epoch && formerEpoch == other.formerEpoch;
    }

    private synchronized boolean isWaiting() {
      return answer == null;
    }

    /// @return whether the claim waited until now
    private boolean goOn(Optional<RememberedSession> session) {
      Consumer<Optional<RememberedSession>> then;
      synchronized (this) {
        if (answer != null) {
          return false;
        }
        answer = session;
        then = listener;
      }
      then.accept(session);
      return true;
    }

    private void listen(Consumer<Optional<RememberedSession>> then) {
      Optional<RememberedSession> answered;
      synchronized (this) {
        answered = answer;
        listener = then;
      }
      if (answered != null) {
        then.accept(answered);
      }
    }
  }

  /// @param formerWithin how long a claim waits for the former owner
  /// @param unanswered counts former owners that did not answer within that time
  Arrivals(Duration formerWithin, Registrar.Timer timer, Counter unanswered) {
    this.formerWithin = formerWithin;
    this.timer = timer;
    this.unanswered = unanswered;
  }

  /// Another connection of the device is about to claim it; ends with [#arrived].
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

  /// Whether a connection of the device is between claim and table. A caller that looks into the
  /// table afterwards finds the session of a connection that has arrived by then.
  boolean isArriving(DeviceKey device) {
    return arriving.containsKey(device);
  }

  /// The state of a connection that enters the table.
  enum Arrival {
    /// The device is this connection's.
    NEWEST,
    /// The device is this connection's as far as this node knows: the directory gave no epoch.
    PRESUMED,
    /// Another connection has claimed the device since, or it was deleted.
    OUTRUN
  }

  /// A later claim on this node counts like one on another node: if that claim's connection is gone
  /// already, its end removes the entry in the directory.
  Arrival arrived(DeviceKey device, long epoch) {
    var found = new AtomicReference<>(Arriving.ONE);
    arriving.computeIfPresent(
        device,
        (_, all) -> {
          found.set(all);
          return all.claims() == 1 ? null : all.with(all.claims() - 1);
        });
    Arriving all = found.get();
    if (all.heard() >= epoch || all.newest() > epoch) {
      return Arrival.OUTRUN;
    }
    return all.claimed() < epoch ? Arrival.PRESUMED : Arrival.NEWEST;
  }

  /// The directory has not answered a claim.
  ///
  /// @param least possible epoch of the claim
  /// @return its epoch, above those of the claims before it
  long presume(DeviceKey device, long least) {
    Arriving now =
        arriving.computeIfPresent(
            device, (_, all) -> all.presuming(Math.max(least, all.newest() + 1)));
    return now == null ? least : now.newest();
  }

  /// Every connection that claimed the device under this epoch or an older one has lost it again.
  ///
  /// @return whether there may be such a connection
  boolean takenOver(DeviceKey device, long epoch) {
    Arriving now = arriving.computeIfPresent(device, (_, all) -> all.hearing(epoch));
    return now != null && now.claimed() < epoch;
  }

  /// The directory has answered a claim. Must be called in the order of its answers, because a
  /// claim behind a waiting claim of this node waits for the same former owner.
  ///
  /// @param former the owner on another node that was told of the claim
  /// @return for [#await]; empty when there is no other node to wait for
  Optional<WaitingClaim> claimed(DeviceKey device, long epoch, Optional<SessionOwner> former) {
    var made = new AtomicReference<@Nullable WaitingClaim>();
    arriving.computeIfPresent(
        device,
        (_, all) -> {
          made.set(
              former
                  .map(owner -> new WaitingClaim(epoch, owner.epoch()))
                  .or(() ->
                      all.waiting().stream()
                          .filter(WaitingClaim::isWaiting)
                          .findFirst()
                          .map(WaitingClaim::next))
                  .orElse(null));
          return all.claiming(epoch, made.get());
        });
    return Optional.ofNullable(made.get());
  }

  /// Waits until the former owner has released the device and described the session ([#released]).
  /// Until then that node may still deliver, and the messages that it has not delivered come here
  /// next. A node that stands still or is cut off does not answer.
  ///
  /// @param then receives the described session, on any thread, after `formerWithin` at the latest;
  ///     at once if the release has come already
  void await(DeviceKey device, WaitingClaim claim, Consumer<Optional<RememberedSession>> then) {
    Arriving now = arriving.get(device);
    if (now != null) {
      now.answerTo(claim).ifPresent(release -> claim.goOn(SessionText.read(release)));
    }
    if (claim.isWaiting()) {
      timer.after(
          formerWithin,
          () -> {
            if (claim.goOn(Optional.empty())) {
              unanswered.increment();
              waitNoLonger(device, claim);
            }
          });
    }
    claim.listen(then);
  }

  /// Later claims on this node wait for the same former owner, which has had its time: a client
  /// that reconnects sooner than that would otherwise wait for ever.
  private void waitNoLonger(DeviceKey device, WaitingClaim first) {
    Arriving now = arriving.get(device);
    if (now != null) {
      now.waiting().stream()
          .filter(first::waitsWith)
          .forEach(claim -> claim.goOn(Optional.empty()));
    }
  }

  /// A former owner has released the device and describes the session.
  void released(SessionRelease release) {
    Arriving now = arriving.computeIfPresent(release.device(), (_, all) -> all.releasedBy(release));
    if (now != null) {
      now.waiting().stream()
          .filter(claim -> claim.isAnsweredBy(release))
          .forEach(claim -> claim.goOn(SessionText.read(release)));
    }
  }
}
