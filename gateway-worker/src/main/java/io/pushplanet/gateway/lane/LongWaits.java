package io.pushplanet.gateway.lane;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.AppId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Limits how much of a lane waits longer than usual for devices, as messages may ask for. A
/// waiting message keeps its batch in hand, and a lane over MQTT takes few recipients in hand at
/// once. So the recipients of such batches are at most half of the lane's, and an app has no more
/// of these than it leaves to others. A message that is not granted a long wait waits as long as
/// usual. Thread-safe.
public final class LongWaits {
  private final int most;

  @GuardedBy("this")
  private final Map<AppId, Integer> apps = new HashMap<>();

  @GuardedBy("this")
  private int taken;

  /// @param inHand recipients that the lane may have
  LongWaits(int inHand) {
    this.most = inHand / 2;
  }

  /// The apps of a batch that may wait long, until this is closed.
  public final class Granted implements AutoCloseable {
    private final Set<AppId> to;
    private final int each;

    private Granted(Set<AppId> to, int each) {
      this.to = to;
      this.each = each;
    }

    public boolean to(AppId app) {
      return to.contains(app);
    }

    @Override
    public void close() {
      to.forEach(app -> giveBack(app, each));
    }
  }

  /// @param wishing apps of a batch that wish to wait long. Together they keep the whole batch in
  ///     hand, so each counts for an equal part
  /// @param recipients of the batch
  public Granted take(Set<AppId> wishing, int recipients) {
    int each = Math.ceilDiv(recipients, Math.max(1, wishing.size()));
    Set<AppId> granted = new HashSet<>();
    for (AppId app : wishing) {
      if (take(app, each)) {
        granted.add(app);
      }
    }
    return new Granted(granted, each);
  }

  private synchronized boolean take(AppId app, int more) {
    int held = apps.getOrDefault(app, 0) + more;
    if (held > most - taken - more) {
      return false;
    }
    apps.put(app, held);
    taken += more;
    return true;
  }

  private synchronized void giveBack(AppId app, int fewer) {
    taken -= fewer;
    apps.computeIfPresent(app, (_, held) -> held == fewer ? null : held - fewer);
  }
}
