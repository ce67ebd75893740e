package io.pushplanet.cm.session;

import io.pushplanet.common.message.MessageId;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Messages that devices of this node may have received on their last connection, to another node
/// or with a larger window, without acknowledging them. When one of them is sent here, it is a
/// repeat and has DUP. A message is forgotten when it is sent, and all of a device when its session
/// ends.
///
/// Holds the messages of [#MAX_DEVICES] devices; those of others are sent again without DUP.
/// Thread-safe; the look-up for each message takes no lock.
public final class Repeats {
  static final int MAX_DEVICES = 10_000;

  private final Map<HeldKey, Set<MessageId>> all = new ConcurrentHashMap<>();

  void expect(HeldKey device, Collection<MessageId> messages) {
    if (!messages.isEmpty() && all.size() < MAX_DEVICES) {
      all.merge(device, Set.copyOf(messages), Repeats::with);
    }
  }

  private static Set<MessageId> with(Set<MessageId> some, Set<MessageId> more) {
    return Stream.concat(some.stream(), more.stream()).collect(Collectors.toUnmodifiableSet());
  }

  /// @return whether the message was expected
  boolean remove(HeldKey device, MessageId message) {
    Set<MessageId> expected = all.isEmpty() ? null : all.get(device);
    if (expected == null || !expected.contains(message)) {
      return false;
    }
    all.computeIfPresent(device, (_, now) -> without(now, message));
    return true;
  }

  private static @Nullable Set<MessageId> without(Set<MessageId> some, MessageId message) {
    Set<MessageId> others =
        some.stream().filter(each -> !each.equals(message)).collect(Collectors.toUnmodifiableSet());
    return others.isEmpty() ? null : others;
  }

  /// @return the messages that were expected and have not been sent
  Set<MessageId> removeAll(HeldKey device) {
    Set<MessageId> left = all.isEmpty() ? null : all.remove(device);
    return left == null ? Set.of() : left;
  }
}
