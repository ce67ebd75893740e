package io.pushplanet.dispatcher.device;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.dispatcher.lane.Lanes;
import io.pushplanet.dispatcher.lane.Parcel;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// Ends as failed what waits for a device and must not come to it any more. It is told to the broker before the rows go: a crash in between
/// leaves the rows to be sent or to fail again, never a delivery without an end. Within the caller's transaction. Thread-safe.
@Component
class WaitingMessages {
  private static final int AT_ONCE = 200;

  private final DeviceMapper mapper;
  private final Lanes lanes;
  private final Clock clock;

  WaitingMessages(DeviceMapper mapper, Lanes lanes, Clock clock) {
    this.mapper = mapper;
    this.lanes = lanes;
    this.clock = clock;
  }

  /// All that waits for a device that is deleted.
  ///
  /// @param asked when that was asked for: what a repeat tells once more is the same event then
  void endAll(AppId app, DeviceId device, Instant asked) {
    List<MessageId> waiting =
        new ArrayList<>(messages(mapper.waiting(app.value(), device.value())));
    List<DeviceMapper.WaitingBroadcast> broadcasts =
        mapper.waitingBroadcasts(app.value(), device.value());
    broadcasts.forEach(broadcast -> waiting.add(new MessageId(broadcast.messageId())));
    if (!waiting.isEmpty()) {
      fail(app, device, waiting, "device_deleted", asked);
    }
    broadcasts.stream()
        .mapToLong(DeviceMapper.WaitingBroadcast::seq)
        .max()
        .ifPresent(seq -> mapper.passBroadcasts(app.value(), device.value(), seq, clock.instant()));
    mapper.deleteInbox(app.value(), device.value());
  }

  /// Whoever was logged in here was sent something that is not for whoever is now, though it may name both. What is for the device, a
  /// topic or a tag stays.
  ///
  /// @param user null for nobody
  /// @param asked as for [#endAll]
  void endWhatIsForOthers(AppId app, DeviceId device, @Nullable String user, Instant asked) {
    List<DeviceMapper.Waiting> notTheirs =
        mapper.waitingForOthers(app.value(), device.value(), user);
    for (int from = 0; from < notTheirs.size(); from += AT_ONCE) {
      List<DeviceMapper.Waiting> some =
          notTheirs.subList(from, Math.min(from + AT_ONCE, notTheirs.size()));
      fail(app, device, messages(some), "user_changed", asked);
      mapper.deleteFromInbox(app.value(), device.value(), some);
    }
  }

  private static List<MessageId> messages(List<DeviceMapper.Waiting> rows) {
    return rows.stream().map(row -> new MessageId(row.messageId())).toList();
  }

  private void fail(
      AppId app, DeviceId device, List<MessageId> messages, String reason, Instant asked) {
    Attempt attempt = Attempt.rejected(Channel.MQTT, asked, reason);
    lanes.publish(
        messages.stream()
            .map(message ->
                Parcel.of(
                    Topology.EVENTS,
                    new DeliveryEvent.Ended(
                        app, asked, message, device, DeliveryState.FAILED, attempt)))
            .toList());
  }
}
