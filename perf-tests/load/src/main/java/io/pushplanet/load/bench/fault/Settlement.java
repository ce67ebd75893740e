package io.pushplanet.load.bench.fault;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.fleet.RoamingFleet;
import io.pushplanet.load.measure.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/// Whether devices have one connection each, at the node that the directory says. For one thread.
final class Settlement {
  private static final Duration SAME_WITHIN = Duration.ofSeconds(20);

  private final Run run;
  private final RoamingFleet fleet;
  private final SessionDirectory sessions;
  private final AppId app;
  private final Nodes nodes;
  private int unsettled;
  private int foreign;

  Settlement(Run run, RoamingFleet fleet, SessionDirectory sessions, AppId app, Nodes nodes) {
    this.run = run;
    this.fleet = fleet;
    this.sessions = sessions;
    this.app = app;
    this.nodes = nodes;
  }

  /// Waits until each of them has exactly one connection.
  ///
  /// @return the devices for which that did not happen in time
  List<DeviceId> awaitOneEach(Collection<DeviceId> devices, Duration atMost) {
    List<DeviceId> astray = fleet.awaitOneEach(devices, atMost);
    unsettled += astray.size();
    return astray;
  }

  /// Counts those that have and keep their connection at another node than the directory says. A
  /// node that claims a device and loses it before the former node has learnt of that is the owner
  /// for a moment.
  void compareWithDirectory(List<DeviceId> devices) {
    long deadline = System.nanoTime() + SAME_WITHIN.toNanos();
    List<String> elsewhere = elsewhere(devices);
    while (!elsewhere.isEmpty() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      elsewhere = elsewhere(devices);
    }
    if (!elsewhere.isEmpty()) {
      run.say("  elsewhere than the directory says: %s", String.join(", ", elsewhere));
    }
    foreign += elsewhere.size();
  }

  private List<String> elsewhere(List<DeviceId> devices) {
    Map<DeviceId, Integer> standing = fleet.standing();
    Map<DeviceKey, SessionOwner> owners =
        sessions.owners(devices.stream().map(id -> new DeviceKey(app, id)).toList());
    List<String> elsewhere = new ArrayList<>();
    for (DeviceId id : devices) {
      Integer place = standing.get(id);
      SessionOwner owner = owners.get(new DeviceKey(app, id));
      if (place != null && (owner == null || nodes.placeOf(owner.node()) != place)) {
        elsewhere.add(id.value() + " at node " + place + ", owner " + owner);
      }
    }
    return elsewhere;
  }

  /// Whether every device was where it should be, at every look.
  boolean holds() {
    return unsettled == 0 && foreign == 0;
  }

  List<Report.Row> rows() {
    return List.of(
        Report.Row.of("races and legs that left a device without one connection", "", unsettled, 0),
        Report.Row.of("connections at another node than the directory says", "", foreign, 0));
  }
}
