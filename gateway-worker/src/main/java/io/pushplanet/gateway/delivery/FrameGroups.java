package io.pushplanet.gateway.delivery;

import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.gateway.delivery.NodeDelivery.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Groups requests that may share a frame. Requests with the same node and the same fallback
/// deadline share a frame. A message must not overtake an earlier one to the same device that has
/// another deadline: where it would, a new group begins for all later requests with its deadline.
/// Confined to one thread.
final class FrameGroups {
  private static final Duration DEADLINE_STEP = Duration.ofMillis(100);

  /// In the order in which they leave.
  final List<Group> all = new ArrayList<>();

  private final Map<Key, Group> open = new HashMap<>();

  // Only devices with a request in a later group than the first, which nearly always is the only
  // one.
  private final Map<DeviceKey, Integer> lastOf = new HashMap<>();

  /// A frame has one deadline and carries messages of any app. A request that waits shorter or
  /// longer than the others needs a frame of its own: otherwise the others' messages would fall
  /// back at its deadline, or it at theirs. A request without a fallback joins those with the
  /// default deadline.
  private record Key(NodeId node, Duration deadline) {
    static Key of(NodeId node, Request request) {
      return new Key(
          node,
          request.fallsBack()
              ? FrameGroups.fallsBackAfter(request)
              : DeliveryOptions.DEFAULT_FALLBACK_AFTER);
    }
  }

  /// Leaves after all groups of lower numbers.
  record Group(int number, NodeId node, List<Request> requests) {}

  void add(NodeId node, Request request) {
    Key key = Key.of(node, request);
    DeviceKey device = request.parcel().key();
    Group known = open.get(key);
    Group group =
        known != null && known.number() >= lastOf.getOrDefault(device, 0) ? known : begin(key);
    group.requests().add(request);
    if (group.number() > 0) {
      lastOf.put(device, group.number());
    }
  }

  private Group begin(Key key) {
    Group begun = new Group(all.size(), key.node(), new ArrayList<>());
    all.add(begun);
    open.put(key, begun);
    return begun;
  }

  /// How long the request waits for the node before its vendor is tried, rounded up to
  /// [#DEADLINE_STEP], so that few frames are needed.
  static Duration fallsBackAfter(Request request) {
    Duration wait = request.parcel().push().delivery().fallbackAfter();
    if (wait.compareTo(request.atMost()) > 0) {
      return request.atMost();
    }
    return DEADLINE_STEP.multipliedBy(
        Math.ceilDiv(wait.toMillis(), (int) DEADLINE_STEP.toMillis()));
  }
}
