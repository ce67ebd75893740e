package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.services.Port;
import java.net.InetAddress;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/// A port for every listener. Immutable.
public final class Ports {
  /// Lower ports need a permission of the system (https://man7.org/linux/man-pages/man7/ip.7.html,
  /// ip_unprivileged_port_start).
  private static final int LOWEST_OF_ANYBODY = 1_024;

  private static final InetAddress LOOPBACK = PublicAddress.THIS_MACHINE.listen();

  private final EnumMap<Listener, Integer> ports;

  private Ports(EnumMap<Listener, Integer> ports) {
    this.ports = ports;
  }

  /// The usual ports moved by `offset`, except those chosen by hand (0: any free one).
  public static Ports usual(int offset, Map<Listener, Integer> chosen) {
    var ports = new EnumMap<Listener, Integer>(Listener.class);
    for (Listener listener : Listener.values()) {
      int usual = listener.usualPort() == 0 ? 0 : listener.usualPort() + offset;
      ports.put(listener, chosen.getOrDefault(listener, usual));
    }
    return new Ports(ports);
  }

  /// Free ports for all listeners but those chosen by hand.
  public static Ports free(Map<Listener, Integer> chosen) {
    var ports = new EnumMap<Listener, Integer>(Listener.class);
    for (Listener listener : Listener.values()) {
      ports.put(listener, chosen.getOrDefault(listener, 0));
    }
    return new Ports(ports);
  }

  public int of(Listener listener) {
    return ports.getOrDefault(listener, 0);
  }

  /// Replaces each 0 by a free port. Refuses when a chosen port is given to two listeners, is taken
  /// by another program, or may not be opened by this user.
  ///
  /// @param address of the public listeners
  Ports resolved(PublicAddress address) {
    var resolved = new EnumMap<Listener, Integer>(Listener.class);
    var takenBy = new TreeMap<Integer, Listener>();
    ports.forEach((listener, port) -> {
      if (port == 0) {
        return;
      }
      Listener other = takenBy.put(port, listener);
      if (other != null) {
        throw new StartRefused(
            StartRefused.Reason.PORT_TAKEN,
            "port "
                + port
                + " is given to both "
                + other.option()
                + " and "
                + listener.option()
                + "; change one of them");
      }
    });
    takenBy.forEach((port, listener) -> {
      Port.objectionTo(listener.isPublic() ? address.listen() : LOOPBACK, port)
          .ifPresent(why -> {
            throw refused(listener, port, why);
          });
      resolved.put(listener, port);
    });
    ports.forEach((listener, port) -> {
      if (port == 0) {
        int free = Port.free();
        while (takenBy.putIfAbsent(free, listener) != null) {
          free = Port.free();
        }
        resolved.put(listener, free);
      }
    });
    return new Ports(resolved);
  }

  /// Every user may open the ports from 1024 on, so only another program can be in the way there.
  static StartRefused refused(Listener listener, int port, String why) {
    String way =
        port < LOWEST_OF_ANYBODY
            ? "a port below "
                + LOWEST_OF_ANYBODY
                + " may need root, and another program may hold it"
            : "end the program that holds it";
    return new StartRefused(
        StartRefused.Reason.PORT_TAKEN,
        "port %d (%s) cannot be listened on: %s; %s, or choose another port with %s=PORT, or let --ports=free choose all of them"
            .formatted(port, listener.option(), why, way, listener.option()));
  }
}
