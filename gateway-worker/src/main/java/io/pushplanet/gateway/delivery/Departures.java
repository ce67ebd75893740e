package io.pushplanet.gateway.delivery;

import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.gateway.delivery.NodeDelivery.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Whoever is in the same haste leaves together. No message passes an earlier one to its device that waits for longer or less:
/// where it would, another departure begins, for all in its haste that come after it. Confined to one thread.
final class Departures {
  private static final Duration PATIENCE_STEP = Duration.ofMillis(100);

  final List<Departure> all = new ArrayList<>();
  private final Map<Haste, Departure> open = new HashMap<>();
  // Where it is not the first of all, which nearly always is the only one.
  private final Map<DeviceKey, Integer> lastOf = new HashMap<>();

  /// What travels together to a node. A frame has one deadline, and neighbours are of any app: whoever waits for less or more than
  /// everybody else has a frame of its own, or it would send the others' messages to their vendors, too, or they its. Who has
  /// no vendor goes with those who wait for as long as is usual.
  private record Haste(NodeId node, Duration patience) {
    static Haste of(NodeId node, Request request) {
      return new Haste(
          node,
          request.fallsBack() ? fallsBackAfter(request) : DeliveryOptions.DEFAULT_FALLBACK_AFTER);
    }
  }

  /// What leaves together, after all of lower numbers.
  record Departure(int number, NodeId node, List<Request> requests) {}

  void add(NodeId node, Request request) {
    Haste haste = Haste.of(node, request);
    DeviceKey device = request.parcel().key();
    Departure known = open.get(haste);
    Departure departure =
        known != null && known.number() >= lastOf.getOrDefault(device, 0) ? known : begin(haste);
    departure.requests().add(request);
    if (departure.number() > 0) {
      lastOf.put(device, departure.number());
    }
  }

  private Departure begin(Haste haste) {
    Departure begun = new Departure(all.size(), haste.node(), new ArrayList<>());
    all.add(begun);
    open.put(haste, begun);
    return begun;
  }

  /// Until its vendor is tried, in full steps: each wait has frames of its own.
  static Duration fallsBackAfter(Request request) {
    Duration wait = request.parcel().push().delivery().fallbackAfter();
    if (wait.compareTo(request.atMost()) > 0) {
      return request.atMost();
    }
    return PATIENCE_STEP.multipliedBy(
        Math.ceilDiv(wait.toMillis(), (int) PATIENCE_STEP.toMillis()));
  }
}
