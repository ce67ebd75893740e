package io.pushplanet.gateway.parcel;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import io.pushplanet.gateway.registration.Registrations;
import io.pushplanet.gateway.registration.Registrations.Registered;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// Finds where a message that has waited must go now: meanwhile its device may have been deleted,
/// have another user, or have a new token, or its token may be another device's (another user
/// logged in on the same phone). No user gets a message that was for another one. Thread-safe.
public final class WaitedFor {
  private final Registrations registrations;
  private final DatabaseCircuitBreaker breaker;

  public WaitedFor(Registrations registrations, DatabaseCircuitBreaker breaker) {
    this.registrations = registrations;
    this.breaker = breaker;
  }

  /// The result of a check.
  ///
  /// @param left parcels to be sent, with the tokens that their devices have now
  /// @param deleted parcels whose devices are no longer registered, or were registered anew
  /// @param ofFormerUser parcels for a user who no longer has the device
  /// @param withoutToken parcels whose devices no longer have a token of the channel
  /// @param known whether the database answered, where it was needed; if not, `left` are all
  ///     parcels as they were
  public record Checked(
      List<Parcel> left,
      List<Parcel> deleted,
      List<Parcel> ofFormerUser,
      List<Parcel> withoutToken,
      boolean known) {
    private static Checked asTheyWere(List<Parcel> parcels, boolean known) {
      return new Checked(parcels, List.of(), List.of(), List.of(), known);
    }
  }

  /// Checks the parcels, if the database answers. Blocks.
  public Checked check(Channel channel, List<Parcel> parcels) {
    List<Parcel> waited = parcels.stream().filter(WaitedFor::hasWaited).toList();
    if (waited.isEmpty()) {
      return Checked.asTheyWere(parcels, true);
    }
    return breaker
        .ask(
            "event=registration_check_failed parcels=" + waited.size(),
            () -> registrations.of(waited.stream().map(Parcel::key).toList()))
        .map(now -> checked(channel, parcels, now))
        .orElseGet(() -> Checked.asTheyWere(parcels, false));
  }

  private static Checked checked(
      Channel channel, List<Parcel> parcels, Map<DeviceKey, Registered> now) {
    List<Parcel> left = new ArrayList<>();
    List<Parcel> deleted = new ArrayList<>();
    List<Parcel> ofFormerUser = new ArrayList<>();
    List<Parcel> withoutToken = new ArrayList<>();
    for (Parcel parcel : parcels) {
      Registered current = now.get(parcel.key());
      if (!hasWaited(parcel)) {
        left.add(parcel);
      } else if (current == null || isForFormerDevice(parcel, current)) {
        deleted.add(parcel);
      } else if (isForAnother(parcel, current)) {
        ofFormerUser.add(parcel);
      } else if (channel == Channel.MQTT) {
        left.add(to(parcel, overMqtt(parcel, current)));
      } else if (reaches(channel, parcel, current.recipient())) {
        left.add(to(parcel, current.recipient()));
      } else {
        withoutToken.add(to(parcel, current.recipient()));
      }
    }
    return new Checked(left, deleted, ofFormerUser, withoutToken, true);
  }

  /// Whether the device was deleted and registered anew since: an address that the message has is
  /// older than the device.
  private static boolean isForFormerDevice(Parcel parcel, Registered current) {
    return Arrays.stream(Channel.values())
        .flatMap(channel -> parcel.recipient().token(channel).stream())
        .anyMatch(address -> address.registeredAt().isBefore(current.createdAt()));
  }

  /// Whether the message is for another user than the device's current one.
  private static boolean isForAnother(Parcel parcel, Registered current) {
    String user = parcel.recipient().user();
    return user != null && !user.equals(current.user());
  }

  private static Parcel to(Parcel parcel, Recipient current) {
    return parcel.to(current.of(parcel.recipient().user()));
  }

  /// A recipient that is no device is not registered. For parked messages, the request that deletes
  /// a device clears its inbox.
  private static boolean hasWaited(Parcel parcel) {
    return parcel.waited() && parcel.push().inInbox() == null && parcel.recipient().namesDevice();
  }

  private static boolean reaches(Channel channel, Parcel parcel, Recipient current) {
    return current.token(channel).isPresent() && isAlike(parcel, current);
  }

  /// The recipient over MQTT, with the vendors to fall back to.
  private static Recipient overMqtt(Parcel parcel, Registered device) {
    Recipient current = device.recipient();
    return isAlike(parcel, current)
        ? current
        : new Recipient(current.device(), current.mqtt(), null, null, null, null, null);
  }

  /// A message that was for a whole topic must not ring as a call.
  private static boolean isAlike(Parcel parcel, Recipient current) {
    return current.onlyForNamed() == parcel.recipient().onlyForNamed();
  }
}
