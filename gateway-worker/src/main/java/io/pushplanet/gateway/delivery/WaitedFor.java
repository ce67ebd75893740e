package io.pushplanet.gateway.delivery;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.target.ActivityChannelId;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.gateway.token.Registrations;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/// Whom a message that has waited is for: its device may be deleted meanwhile, its token be another device's (another user logged in
/// on the same phone), or the device have a new one. Nobody is told what was for somebody else. While the database is away, nothing
/// comes back from `later`, and the little that falls back from MQTT goes on as it was addressed. Thread-safe.
final class WaitedFor {
  private static final Logger LOG = LoggerFactory.getLogger(WaitedFor.class);

  private final Registrations registrations;
  private final Reachability reachability;

  WaitedFor(Registrations registrations, Reachability reachability) {
    this.registrations = registrations;
    this.reachability = reachability;
  }

  /// What is known of some parcels.
  ///
  /// @param left those to be sent, to the tokens that their devices have now
  /// @param deleted of the others those whose devices are not registered any more
  /// @param withoutToken of the others those whose devices have no token of the channel any more
  record Look(List<Parcel> left, List<Parcel> deleted, List<Parcel> withoutToken) {}

  /// As far as anybody knows. Blocks.
  Look look(Channel channel, List<Parcel> parcels) {
    List<Parcel> waited = parcels.stream().filter(WaitedFor::hasWaited).toList();
    if (waited.isEmpty() || !reachability.mayAsk()) {
      return new Look(parcels, List.of(), List.of());
    }
    Map<DeviceKey, Recipient> now;
    try {
      now = registrations.of(waited.stream().map(Parcel::key).toList());
      reachability.answered();
    } catch (DataAccessException e) {
      reachability.failed(e);
      LOG.warn(
          "event=registration_check_failed parcels={} reason=\"{}\"", waited.size(), e.toString());
      return new Look(parcels, List.of(), List.of());
    }
    Look look = new Look(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (Parcel parcel : parcels) {
      Recipient current = now.get(parcel.key());
      if (!hasWaited(parcel)) {
        look.left.add(parcel);
      } else if (current == null) {
        look.deleted.add(parcel);
      } else if (channel == Channel.MQTT || isWay(channel, parcel, current)) {
        look.left.add(new Parcel(parcel.push(), current, parcel.repeat()));
      } else {
        look.withoutToken.add(new Parcel(parcel.push(), current, parcel.repeat()));
      }
    }
    return look;
  }

  /// A channel of Live Activities is no device, and who is parked already has been looked after by whoever deleted the device.
  private static boolean hasWaited(Parcel parcel) {
    return (parcel.push().cameBack() || !parcel.push().tried().isEmpty())
        && parcel.push().inInbox() == null
        && !ActivityChannelId.isValid(parcel.recipient().device().value());
  }

  /// What was for all of a topic does not ring as a call.
  private static boolean isWay(Channel channel, Parcel parcel, Recipient current) {
    return current.token(channel).isPresent()
        && current.onlyForNamed() == parcel.recipient().onlyForNamed();
  }
}
