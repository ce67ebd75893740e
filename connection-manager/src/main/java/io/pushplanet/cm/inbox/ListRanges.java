package io.pushplanet.cm.inbox;

import io.pushplanet.common.device.DeviceId;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/// Lists by the range of their device ids: an interval tree in an array, where the middle of a
/// range is the root of its halves. It takes O(n log n) to build and O(log n + found) to query.
/// Immutable.
final class ListRanges {
  static final ListRanges NONE = new ListRanges(List.of());

  /// Less than every id.
  private static final String NOBODY = "";

  private final BroadcastList[] byFirst;

  /// The greatest last id in the subtree of each root.
  private final String[] greatestLast;

  ListRanges(Collection<BroadcastList> lists) {
    byFirst = lists.toArray(BroadcastList[]::new);
    Arrays.sort(byFirst, Comparator.comparing(BroadcastList::first));
    greatestLast = new String[byFirst.length];
    greatest(0, byFirst.length);
  }

  private String greatest(int from, int to) {
    if (from == to) {
      return NOBODY;
    }
    int root = (from + to) >>> 1;
    String greatest =
        later(byFirst[root].last(), later(greatest(from, root), greatest(root + 1, to)));
    greatestLast[root] = greatest;
    return greatest;
  }

  private static String later(String one, String other) {
    return one.compareTo(other) < 0 ? other : one;
  }

  List<BroadcastList> all() {
    return List.of(byFirst);
  }

  int size() {
    return byFirst.length;
  }

  /// Calls `then` with each list that may name the device, in no order.
  void forEach(DeviceId device, Consumer<BroadcastList> then) {
    visit(0, byFirst.length, device, then);
  }

  private void visit(int from, int to, DeviceId device, Consumer<BroadcastList> then) {
    if (from == to) {
      return;
    }
    int root = (from + to) >>> 1;
    if (greatestLast[root].compareTo(device.value()) < 0) {
      return;
    }
    visit(from, root, device, then);
    if (byFirst[root].first().compareTo(device.value()) <= 0) {
      if (byFirst[root].mayName(device)) {
        then.accept(byFirst[root]);
      }
      visit(root + 1, to, device, then);
    }
  }
}
