package io.pushplanet.cm.directory;

import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices.Bequest;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// What all nodes know together of devices, as this node asks it: who has which, and the subscriptions of persistent
/// sessions. Everything that a node writes of a session carries its epoch, and changes nothing where a newer owner has written; nor
/// where the node does not own the device, and the password that the session came by is denied.
///
/// Calls block and throw [io.pushplanet.common.session.DirectoryUnavailable]; a call that failed may have had its effect.
/// Thread-safe.
public interface Directory {
  /// @param subscription null when the device had none as it left
  /// @param epoch of the connection that held the session before
  record Remembered(@Nullable Subscription subscription, long epoch) {
    private static final Pattern FORM = Pattern.compile("([0-3]),([0-9]{1,9})(?:,([0-9]{1,18}))?");

    /// Written where a session has no subscription; nodes of an earlier version take it for no session.
    private static final String NONE = "3,0";

    /// A session's subscription as it is written.
    static String text(@Nullable Subscription subscription) {
      return subscription == null
          ? NONE
          : subscription.qos().ordinal() + "," + subscription.identifier();
    }

    /// What another node says of the session that it had.
    static Optional<Remembered> read(Bequest told) {
      return told.session().isEmpty()
          ? Optional.empty()
          : read(told.session() + "," + told.epoch());
    }

    /// `qos,identifier,epoch`; nodes of an earlier version wrote no epoch. Nothing when it has another form.
    static Optional<Remembered> read(String text) {
      var parts = FORM.matcher(text);
      if (!parts.matches()) {
        return Optional.empty();
      }
      var subscription =
          text.startsWith(NONE)
              ? null
              : Subscription.of(
                  QoS.of(Integer.parseInt(parts.group(1))), Integer.parseInt(parts.group(2)));
      var epoch = parts.group(3);
      return Optional.of(new Remembered(subscription, epoch == null ? 0 : Long.parseLong(epoch)));
    }
  }

  /// What a device that connects wants of the session it left behind.
  enum Former {
    /// Nothing: it is forgotten.
    FORGET,
    /// Its subscription; from now on it does not age until [Order.End].
    RESUME,
    /// Its subscription, for this connection only.
    RESUME_ONCE
  }

  /// Something to do for one device.
  sealed interface Order {
    DeviceKey device();

    /// Takes the device over for this node, unless its password is denied.
    ///
    /// @param passwordEnds in this second of the epoch
    record Claim(DeviceKey device, Former former, long passwordEnds) implements Order {}

    /// @param passwordEnds as in [Claim]
    record Remember(DeviceKey device, long epoch, Subscription subscription, long passwordEnds)
        implements Order {}

    /// @param passwordEnds as in [Claim]
    record Forget(DeviceKey device, long epoch, long passwordEnds) implements Order {}

    /// The claimed connection came to nothing.
    record Release(DeviceKey device, long epoch) implements Order {}

    /// Tells the node that claimed the device that this one has let it go.
    ///
    /// @param heir as its claim was heard
    /// @param session how it was, as [Remembered#text] says it; empty where there is none to go on with
    record LetGo(DeviceKey device, SessionOwner heir, String session) implements Order {}

    /// The connection ended; the session lives for `seconds` more.
    ///
    /// @param left with this subscription; null: with none, where the device was this node's till the end
    /// @param passwordEnds as in [Claim]
    record End(
        DeviceKey device, long epoch, long seconds, @Nullable Subscription left, long passwordEnds)
        implements Order {}
  }

  /// What became of an order.
  sealed interface Answer {
    /// @param former who had the device until now
    /// @param heard whether another node, which had it, was told: it says when it has let the device go
    record Claimed(
        long epoch, Optional<SessionOwner> former, boolean heard, Optional<Remembered> remembered)
        implements Answer {}

    /// The device was deleted since it was given this password; whoever has it keeps it.
    record Denied() implements Answer {}

    /// Done, or in vain because somebody newer has written.
    record Done() implements Answer {}

    /// This one could not be done; it may have had part of its effect. Its neighbours do not mind.
    record Failed(String reason) implements Answer {}
  }

  /// Carries the orders out, one after the other, in one round trip.
  ///
  /// @return an answer to each, in the same order
  List<Answer> carryOut(List<Order> orders);

  Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices);

  /// Sessions that the directory does not know (any more). One that has been taken up elsewhere since is refused, also when that
  /// connection is over; what is remembered of an older one is forgotten.
  Announcement announce(Map<DeviceKey, Announced> sessions);

  /// Those of the devices whose password lets nobody in any more.
  ///
  /// @param passwordEnds of each, in this second of the epoch
  Set<DeviceKey> denied(Map<DeviceKey, Long> passwordEnds);

  /// @param passwordEnds in this second of the epoch
  record Announced(long epoch, long passwordEnds) {}

  /// What became of sessions that were announced.
  ///
  /// @param owners of each as the directory now has it; of a session that was refused, at least the newer epoch
  /// @param denied whose password let nobody in any more: they were not announced
  record Announcement(Map<DeviceKey, SessionOwner> owners, Set<DeviceKey> denied) {
    public Announcement {
      owners = Map.copyOf(owners);
      denied = Set.copyOf(denied);
    }
  }
}
