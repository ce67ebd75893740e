package io.pushplanet.gateway.delivery;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.DevicePayload;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.gateway.delivery.NodeDelivery.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// The requests that a node gets in one frame, and the payload of each message among them.
final class Frame {
  private static final int MAX_TARGETS = 500;
  private static final int MAX_PAYLOAD_BYTES = NodeFrame.MAX_BYTES / 2;

  final List<Request> requests = new ArrayList<>();
  private final Map<MessageId, String> payloads = new HashMap<>();
  private int bytes;

  static List<Frame> split(List<Request> requests) {
    List<Frame> frames = new ArrayList<>();
    Frame frame = new Frame();
    for (Request request : requests) {
      String payload = frame.payload(request.parcel().push());
      if (!frame.hasRoomFor(request, payload)) {
        frames.add(frame);
        frame = new Frame();
      }
      frame.add(request, payload);
    }
    if (!frame.requests.isEmpty()) {
      frames.add(frame);
    }
    return frames;
  }

  /// Written once for all devices that get the message.
  String payload(Push push) {
    String written = payloads.get(push.id());
    return written == null ? DevicePayload.of(push) : written;
  }

  private boolean hasRoomFor(Request request, String payload) {
    int more = payloads.containsKey(request.parcel().push().id()) ? 0 : mostBytes(payload);
    return requests.isEmpty()
        || (requests.size() < MAX_TARGETS && bytes + more <= MAX_PAYLOAD_BYTES);
  }

  private void add(Request request, String payload) {
    requests.add(request);
    if (payloads.putIfAbsent(request.parcel().push().id(), payload) == null) {
      bytes += mostBytes(payload);
    }
  }

  /// Quotes inside the frame are escaped, hence the factor of two.
  private static int mostBytes(String payload) {
    return 2 * (4 * payload.length() / 3);
  }
}
