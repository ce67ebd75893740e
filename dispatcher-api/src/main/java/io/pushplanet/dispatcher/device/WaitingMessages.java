package io.pushplanet.dispatcher.device;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.dispatcher.lane.ConfirmedPublisher;
import io.pushplanet.dispatcher.lane.QueueItem;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// Ends messages that wait for a device and must no longer reach it, as failed. The broker is told
/// before the rows are deleted: after a crash in between the messages are sent or fail again, but
/// no delivery stays without an end. Call it within a transaction. Thread-safe.
@Component
class WaitingMessages {
  private static final int AT_ONCE = 200;

  private final DeviceMapper mapper;
  private final ConfirmedPublisher publisher;
  private final Clock clock;

  WaitingMessages(DeviceMapper mapper, ConfirmedPublisher publisher, Clock clock) {
    this.mapper = mapper;
    this.publisher = publisher;
    this.clock = clock;
  }

  /// Ends all messages that wait until the device connects. A worker parks none meanwhile: it would
  /// lock the device's row first.
  ///
  /// @param reason of the timeline
  /// @param asked when the change was requested; a repeat with the same time tells the same event
  ///     again
  void endAll(AppId app, DeviceId device, String reason, Instant asked) {
    end(app, device, mapper.waiting(app.value(), device.value()), reason, asked);
    endBroadcasts(app, device, reason, asked);
  }

  private void endBroadcasts(AppId app, DeviceId device, String reason, Instant asked) {
    List<Long> lists = mapper.listsAround(app.value(), device.value());
    if (lists.isEmpty()) {
      return;
    }
    List<DeviceMapper.WaitingBroadcast> waiting =
        mapper.broadcastsOf(app.value(), device.value(), lists);
    fail(
        app,
        device,
        waiting.stream().map(broadcast -> new MessageId(broadcast.messageId())).toList(),
        reason,
        asked);
    waiting.stream()
        .mapToLong(DeviceMapper.WaitingBroadcast::seq)
        .max()
        .ifPresent(seq -> mapper.passBroadcasts(app.value(), device.value(), seq, clock.instant()));
  }

  /// Ends the messages that are for another user than the present one. A message to several users
  /// is stored for the one who had the device, so it ends even when it names the present user, too.
  /// Messages to the device, a topic or a tag stay.
  ///
  /// @param user null when no user is logged in
  /// @param asked as for [#endAll]
  void endWhatIsForOthers(AppId app, DeviceId device, @Nullable String user, Instant asked) {
    List<DeviceMapper.Waiting> notTheirs =
        mapper.waitingForOthers(app.value(), device.value(), user);
    end(app, device, notTheirs, "user_changed", asked);
  }

  /// Deletes exactly the rows whose end it tells.
  private void end(
      AppId app, DeviceId device, List<DeviceMapper.Waiting> rows, String reason, Instant asked) {
    for (int from = 0; from < rows.size(); from += AT_ONCE) {
      List<DeviceMapper.Waiting> some = rows.subList(from, Math.min(from + AT_ONCE, rows.size()));
      fail(
          app,
          device,
          some.stream().map(row -> new MessageId(row.messageId())).toList(),
          reason,
          asked);
      mapper.deleteFromInbox(app.value(), device.value(), some);
    }
  }

  private void fail(
      AppId app, DeviceId device, List<MessageId> messages, String reason, Instant asked) {
    Attempt attempt = Attempt.rejected(Channel.MQTT, asked, reason);
    publisher.publish(
        messages.stream()
            .map(message ->
                QueueItem.of(
                    Topology.EVENTS,
                    new DeliveryEvent.Ended(
                        app, asked, message, device, DeliveryState.FAILED, attempt)))
            .toList());
  }
}
