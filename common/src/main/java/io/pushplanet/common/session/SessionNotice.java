package io.pushplanet.common.session;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What a node is told of a device that it has, had, or takes over ([SessionNotices]).
public sealed interface SessionNotice {
  DeviceKey device();

  /// Another node, the `owner`, has claimed the device: `epoch|node|app/device`, as the scripts of
  /// [SessionDirectory] write it.
  record Takeover(DeviceKey device, SessionOwner owner) implements SessionNotice {}

  /// The former owner has released the device that this node claimed:
  /// `left|epoch|session|app/device`. Nodes of an earlier version do not take it for a [Takeover]
  /// and ignore it. Where messages are unacknowledged, `left|epoch|session|id,id…|app/device`
  /// precedes it, which only later versions read.
  ///
  /// @param epoch under which the session ended on the former owner
  /// @param session in the nodes' own form; empty when there is nothing to resume
  /// @param unacknowledged messages that the former owner has sent to the device
  record SessionRelease(
      DeviceKey device, long epoch, String session, List<MessageId> unacknowledged)
      implements SessionNotice {
    public SessionRelease {
      unacknowledged = List.copyOf(unacknowledged);
    }

    public SessionRelease(DeviceKey device, long epoch, String session) {
      this(device, epoch, session, List.of());
    }
  }

  /// The device was deleted, and its passwords that end in this second of the epoch or sooner are
  /// denied: `denied|epoch|ends|app/device`, as [Denials] writes it.
  ///
  /// @param epoch of the session that this node had then
  record Denial(DeviceKey device, long epoch, long ends) implements SessionNotice {}

  /// The device has another user: `handover|epoch|app/device`, as [Handovers] writes it.
  ///
  /// @param epoch of the session that this node had then
  record Handover(DeviceKey device, long epoch) implements SessionNotice {}

  /// Empty when the text has another form, as a later version may write it.
  static Optional<SessionNotice> parse(String text) {
    String[] parts = text.split("\\|", -1);
    try {
      return Optional.ofNullable(
          switch (parts.length) {
            case 3 ->
                parts[0].equals("handover")
                    ? new Handover(DeviceKey.parse(parts[2]), Long.parseLong(parts[1]))
                    : new Takeover(
                        DeviceKey.parse(parts[2]),
                        new SessionOwner(new NodeId(parts[1]), Long.parseLong(parts[0])));
            case 4 -> ofFour(parts);
            case 5 -> parts[0].equals("left") ? ofFive(parts) : null;
            default -> null;
          });
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  private static SessionNotice ofFive(String[] parts) {
    return new SessionRelease(
        DeviceKey.parse(parts[4]),
        Long.parseLong(parts[1]),
        parts[2],
        Arrays.stream(parts[3].split(",", -1)).map(MessageId::new).toList());
  }

  private static @Nullable SessionNotice ofFour(String[] parts) {
    DeviceKey device = DeviceKey.parse(parts[3]);
    long epoch = Long.parseLong(parts[1]);
    return switch (parts[0]) {
      case "left" -> new SessionRelease(device, epoch, parts[2]);
      case "denied" -> new Denial(device, epoch, Long.parseLong(parts[2]));
      default -> null;
    };
  }
}
