package io.pushplanet.cm.directory;

import io.pushplanet.cm.session.Subscription;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// What all nodes share about devices: the owner of each device, and the subscriptions of
/// persistent sessions. Every write about a session carries the session's epoch, and has no effect
/// if a newer owner has written, or if the node does not own the device and the session's password
/// is denied.
///
/// Calls block and throw [io.pushplanet.common.redis.RedisUnavailable]; a failed call may
/// have had its effect. Thread-safe.
public interface Directory {
  /// @param subscription null when the device left without one
  /// @param epoch of the connection that held the session before
  /// @param unacknowledged messages that the device may have received on that connection
  record RememberedSession(
      @Nullable Subscription subscription, long epoch, List<MessageId> unacknowledged) {
    public RememberedSession {
      unacknowledged = List.copyOf(unacknowledged);
    }

    public RememberedSession(@Nullable Subscription subscription, long epoch) {
      this(subscription, epoch, List.of());
    }

    /// The session with these messages, too.
    RememberedSession with(List<MessageId> others) {
      if (others.isEmpty()) {
        return this;
      }
      return new RememberedSession(
          subscription,
          epoch,
          Stream.concat(unacknowledged.stream(), others.stream()).distinct().toList());
    }
  }

  /// What a connecting device wants of its former session.
  enum FormerSession {
    /// The session is forgotten.
    FORGET,
    /// Its subscription. The session does not expire before [Command.End].
    RESUME,
    /// Its subscription, for this connection only.
    RESUME_ONCE
  }

  /// A change for one device.
  sealed interface Command {
    DeviceKey device();

    /// Takes the device over for this node unless its password is denied.
    ///
    /// @param passwordEnds in this second of the epoch
    record Claim(DeviceKey device, FormerSession former, long passwordEnds) implements Command {}

    /// @param passwordEnds as in [Claim]
    record Remember(DeviceKey device, long epoch, Subscription subscription, long passwordEnds)
        implements Command {}

    /// @param passwordEnds as in [Claim]
    record Forget(DeviceKey device, long epoch, long passwordEnds) implements Command {}

    /// The claimed connection failed.
    record Release(DeviceKey device, long epoch) implements Command {}

    /// Tells the node that claimed the device that this node has released it.
    ///
    /// @param session that can be resumed
    record ConfirmRelease(
        DeviceKey device, SessionOwner claimant, Optional<RememberedSession> session)
        implements Command {}

    /// The connection ended; the session lives for `seconds` more.
    ///
    /// @param left the subscription at the end; null when there was none, which is remembered only
    ///     if this node owned the device until the end
    /// @param passwordEnds as in [Claim]
    /// @param unacknowledged messages that the device may have received; remembered with the
    ///     subscription
    record End(
        DeviceKey device,
        long epoch,
        long seconds,
        @Nullable Subscription left,
        long passwordEnds,
        List<MessageId> unacknowledged)
        implements Command {
      public End {
        unacknowledged = List.copyOf(unacknowledged);
      }

      public End(
          DeviceKey device,
          long epoch,
          long seconds,
          @Nullable Subscription left,
          long passwordEnds) {
        this(device, epoch, seconds, left, passwordEnds, List.of());
      }
    }
  }

  /// The result of a command.
  sealed interface Answer {
    /// @param former the owner until now
    /// @param heard whether the former owner, another node, received the claim: it confirms when it
    ///     has released the device
    record Claimed(
        long epoch,
        Optional<SessionOwner> former,
        boolean heard,
        Optional<RememberedSession> remembered)
        implements Answer {}

    /// The device was deleted after it was given this password; its present owner stays.
    record Denied() implements Answer {}

    /// Carried out, or without effect because a newer owner has written.
    record Done() implements Answer {}

    /// The command failed and may have had part of its effect. Other commands are not affected.
    record Failed(String reason) implements Answer {}
  }

  /// Carries out the commands, one after the other, in one round trip.
  ///
  /// @return an answer to each, in the same order
  List<Answer> execute(List<Command> commands);

  Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices);

  /// Registers sessions that the directory does not know (any more). A session that has been
  /// resumed on another node since is refused, even if that connection has ended; a remembered
  /// older session is forgotten.
  Announcement announce(Map<DeviceKey, Announced> sessions);

  /// Those of the devices whose password is denied.
  ///
  /// @param passwordEnds of each, in this second of the epoch
  Set<DeviceKey> denied(Map<DeviceKey, Long> passwordEnds);

  /// @param passwordEnds in this second of the epoch
  record Announced(long epoch, long passwordEnds) {}

  /// The result of an announcement.
  ///
  /// @param owners of each device as the directory has it now; of a refused session at least the
  ///     newer epoch
  /// @param denied devices whose password is denied: they were not announced
  record Announcement(Map<DeviceKey, SessionOwner> owners, Set<DeviceKey> denied) {
    public Announcement {
      owners = Map.copyOf(owners);
      denied = Set.copyOf(denied);
    }
  }
}
