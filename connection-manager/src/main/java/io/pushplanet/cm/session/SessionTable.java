package io.pushplanet.cm.session;

import io.pushplanet.common.session.DeviceKey;
import java.util.Collection;
import java.util.Collections;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The devices connected to this node. Thread-safe; reads take no lock.
public final class SessionTable {
  private final ConcurrentHashMap<HeldKey, DeviceSession> sessions = new ConcurrentHashMap<>();

  public @Nullable DeviceSession find(DeviceKey device) {
    return sessions.get(HeldKey.of(device));
  }

  /// Adds the session, unless the table has one of the same device with a higher epoch.
  ///
  /// @return the session that lost: the former one, or `session` itself; null if there was none
  public @Nullable DeviceSession put(DeviceSession session) {
    while (true) {
      DeviceSession before = sessions.putIfAbsent(session.heldKey(), session);
      if (before == null) {
        return null;
      }
      if (before.epoch() > session.epoch()) {
        return session;
      }
      if (sessions.replace(session.heldKey(), before, session)) {
        return before;
      }
    }
  }

  /// @return whether the table held this very session
  public boolean remove(DeviceSession session) {
    return sessions.remove(session.heldKey(), session);
  }

  public int size() {
    return sessions.size();
  }

  public Collection<DeviceSession> all() {
    return Collections.unmodifiableCollection(sessions.values());
  }
}
