package io.pushplanet.cm.session;

import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory.Claimed;
import io.pushplanet.common.session.SessionOwner;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/// What all nodes know together of devices, as this node asks it: who has which, and the subscriptions of persistent
/// sessions. Everything that a node writes carries its epoch, and changes nothing where a newer owner has written.
///
/// Calls block and throw [io.pushplanet.common.session.DirectoryUnavailable]; a call that failed may have had its effect.
/// Thread-safe.
public interface Directory {
  /// @param epoch of the connection that held the session before
  record Remembered(Subscription subscription, long epoch) {}

  Claimed claim(DeviceKey device);

  Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices);

  /// @return the owner of each as the directory now has it
  Map<DeviceKey, SessionOwner> announce(Map<DeviceKey, Long> epochs);

  void release(DeviceKey device, long epoch);

  /// Takes up a persistent session; from now on it does not age until [#age].
  Optional<Remembered> resume(DeviceKey device, long epoch);

  void remember(DeviceKey device, long epoch, Subscription subscription);

  /// The connection ended; the session lives for `seconds` more.
  void age(DeviceKey device, long epoch, long seconds);

  void forget(DeviceKey device, long epoch);
}
