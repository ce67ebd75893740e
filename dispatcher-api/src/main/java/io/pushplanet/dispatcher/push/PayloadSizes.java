package io.pushplanet.dispatcher.push;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.session.DeviceRoute;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.problem.FieldError;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Refuses a message that a provider would refuse for its size, before it is accepted. The sizes are those of the payload that
/// would be sent, the message id included.
final class PayloadSizes {
  private static final int APNS = ApnsPushType.ALERT.largestPayloadBytes();

  /// https://developer.apple.com/documentation/usernotifications/sending-broadcast-push-notification-requests-to-apns
  private static final int APNS_BROADCAST = 5_120;

  /// https://firebase.google.com/docs/cloud-messaging/concept-options#notifications_and_data_messages
  private static final int FCM = 4_096;

  /// To topics (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode).
  private static final int FCM_TOPIC = 2_048;

  /// A body of 4,096 bytes less what encryption adds (https://www.rfc-editor.org/rfc/rfc8291#section-4).
  private static final int WEB_PUSH = 3_993;

  /// The body without its tokens
  /// (https://developer.huawei.com/consumer/en/doc/HMSCore-References/https-send-api-0000001050986197).
  private static final int HMS = 4_096;

  /// What a device is promised to need at most for one packet of ours.
  private static final int MQTT = 4_096;

  /// Names, quotes, braces, id and time of any payload here.
  private static final int MOST_BYTES_AROUND = 400;

  /// With each character escaped.
  private static final int MOST_BYTES_OF_A_KEY = 6 * DeliveryOptions.LONGEST_COLLAPSE_KEY_BYTES;

  private static final String AN_ID = "00000000-0000-7000-8000-000000000000";
  private static final String A_TIME = "2026-11-21T10:00:00.000Z";
  private static final long A_SECOND = 1_795_255_200;

  private PayloadSizes() {}

  /// What only a call may have is left to [#check(SendRequest, Collection)], which knows the devices.
  static void check(SendRequest request) {
    if (surelyFits(request)) {
      return;
    }
    if (mayBeACall(request)) {
      checkOverrides(request.overrides());
      return;
    }
    checkAll(request);
  }

  /// A call is measured for APNs alone, yet what it says to others travels with it to each of its devices.
  private static void checkOverrides(Overrides overrides) {
    List<FieldError> errors = new ArrayList<>();
    compare("/overrides/fcm", "FCM", merged(overrides.fcm()), FCM, errors);
    compare("/overrides/webpush", "Web Push", merged(overrides.webpush()), WEB_PUSH, errors);
    compare("/overrides/hms", "HMS", merged(overrides.hms()), HMS, errors);
    refuse(errors);
  }

  /// For a message to these devices.
  static void check(SendRequest request, Collection<DeviceRoute> devices) {
    if (surelyFits(request) || !mayBeACall(request)) {
      return;
    }
    if (devices.isEmpty() || !devices.stream().allMatch(PayloadSizes::takesCalls)) {
      checkAll(request);
      return;
    }
    List<FieldError> errors = new ArrayList<>();
    int most = ApnsPushType.VOIP.largestPayloadBytes();
    compare("APNs", apns(request), request.overrides().apns(), most, errors);
    refuse(errors);
  }

  private static boolean takesCalls(DeviceRoute route) {
    return route.apns() != null && route.apns().type() == ApnsPushType.VOIP;
  }

  private static boolean mayBeACall(SendRequest request) {
    return request.audience() instanceof Audience.Devices
        && request.delivery().route() != Route.MQTT
        && request.overrides().liveActivity() == null
        && apns(request) > APNS;
  }

  private static void checkAll(SendRequest request) {
    List<FieldError> errors = new ArrayList<>();
    if (request.audience() instanceof Audience.FcmFollowers) {
      compare("FCM", fcm(request), request.overrides().fcm(), FCM_TOPIC, errors);
      refuse(errors);
      return;
    }
    Route route = request.delivery().route();
    if (route != Route.MQTT) {
      LiveActivity activity = request.overrides().liveActivity();
      if (activity == null) {
        compare("APNs", apns(request), request.overrides().apns(), APNS, errors);
      } else {
        // Over a channel there is no token.
        int most = activity.token() == null ? APNS_BROADCAST : APNS;
        compare("/live_activity", "APNs", liveActivity(request, activity), most, errors);
      }
      compare("FCM", fcm(request), request.overrides().fcm(), FCM, errors);
      // Few messages are for browsers or Huawei's phones: one that says nothing of them may be
      // larger than they take.
      if (request.overrides().webpush() != null) {
        compareWebPush(request, errors);
      }
      if (request.overrides().hms() != null) {
        compareHms(request, errors);
      }
    }
    if (route != Route.VENDOR) {
      compare("MQTT", mqtt(request), null, MQTT, errors);
    }
    refuse(errors);
  }

  /// For a message that reaches devices over this channel only.
  static void checkOnly(Channel channel, SendRequest request) {
    List<FieldError> errors = new ArrayList<>();
    switch (channel) {
      case WEBPUSH -> compareWebPush(request, errors);
      case HMS -> compareHms(request, errors);
      case APNS, FCM, MQTT -> {}
    }
    refuse(errors);
  }

  private static void refuse(List<FieldError> errors) {
    if (!errors.isEmpty()) {
      throw ProblemException.of(ProblemCode.PAYLOAD_TOO_LARGE, errors.getFirst().detail(), errors);
    }
  }

  /// Most messages are so short that they fit however they are written: those need not be written anew to be measured.
  static boolean surelyFits(SendRequest request) {
    if (!request.overrides().equals(Overrides.NONE)) {
      return false;
    }
    String collapseKey = request.delivery().collapseKey();
    int bytes = request.written().bytes() + (collapseKey == null ? 0 : MOST_BYTES_OF_A_KEY);
    return bytes + MOST_BYTES_AROUND <= least(request.audience());
  }

  private static int least(Audience audience) {
    return audience instanceof Audience.FcmFollowers
        ? FCM_TOPIC
        : Math.min(MQTT, Math.min(APNS, FCM));
  }

  private static void compareWebPush(SendRequest request, List<FieldError> errors) {
    compare("Web Push", webPush(request), request.overrides().webpush(), WEB_PUSH, errors);
  }

  private static void compareHms(SendRequest request, List<FieldError> errors) {
    compare("HMS", hms(request), request.overrides().hms(), HMS, errors);
  }

  /// Points at the overrides where the message would fit without them.
  private static void compare(
      String provider,
      int bytes,
      @Nullable ObjectNode overrides,
      int most,
      List<FieldError> errors) {
    boolean fits = bytes - merged(overrides) <= most;
    compare(fits ? "/overrides/" + word(provider) : "/content", provider, bytes, most, errors);
  }

  private static String word(String provider) {
    return provider.toLowerCase(Locale.ROOT).replace(" ", "");
  }

  private static void compare(
      String at, String provider, int bytes, int most, List<FieldError> errors) {
    if (bytes > most) {
      errors.add(
          new FieldError(
              at,
              "too_large_for_" + word(provider),
              String.format(
                  Locale.ROOT,
                  "%s takes %d bytes; this message needs %d, which is %d bytes too many",
                  provider,
                  most,
                  bytes,
                  bytes - most)));
    }
  }

  static int apns(SendRequest request) {
    JsonMapper mapper = WireForm.mapper();
    ObjectNode payload = mapper.createObjectNode();
    ObjectNode aps = payload.putObject("aps");
    if (request.content().title() != null || request.content().body() != null) {
      put(aps.putObject("alert"), request.content());
    }
    putData(payload, request.content());
    return mapper.writeValueAsBytes(payload).length + merged(request.overrides().apns());
  }

  /// As the worker writes it, or less: an object of the overrides is counted instead of one of the same name, not merged with
  /// it. So what fits is never refused.
  static int liveActivity(SendRequest request, LiveActivity activity) {
    JsonMapper mapper = WireForm.mapper();
    ObjectNode payload = mapper.createObjectNode();
    ObjectNode aps = payload.putObject("aps");
    aps.put("timestamp", A_SECOND);
    aps.put("event", activity.event().name().toLowerCase(Locale.ROOT));
    aps.set("content-state", activity.contentState());
    if (activity.attributesType() != null) {
      aps.put("attributes-type", activity.attributesType());
    }
    if (activity.attributes() != null) {
      aps.set("attributes", activity.attributes());
    }
    if (activity.staleAt() != null) {
      aps.put("stale-date", activity.staleAt().getEpochSecond());
    }
    if (activity.dismissAt() != null) {
      aps.put("dismissal-date", activity.dismissAt().getEpochSecond());
    }
    if (activity.relevance() != null) {
      aps.put("relevance-score", activity.relevance());
    }
    if (request.content().title() != null || request.content().body() != null) {
      put(aps.putObject("alert"), request.content());
    }
    if (request.overrides().apns() != null) {
      aps.setAll(request.overrides().apns());
    }
    return mapper.writeValueAsBytes(payload).length;
  }

  static int fcm(SendRequest request) {
    JsonMapper mapper = WireForm.mapper();
    ObjectNode message = mapper.createObjectNode();
    put(message.putObject("notification"), request.content());
    putData(message.putObject("data"), request.content());
    return mapper.writeValueAsBytes(message).length + merged(request.overrides().fcm());
  }

  /// The service worker gets what a device gets over MQTT.
  static int webPush(SendRequest request) {
    return mqtt(request) + merged(request.overrides().webpush());
  }

  /// As the worker writes it, the longest of each; `data` is a text with JSON in it.
  static int hms(SendRequest request) {
    JsonMapper mapper = WireForm.mapper();
    Content content = request.content();
    String collapseKey = request.delivery().collapseKey();
    ObjectNode body = mapper.createObjectNode();
    ObjectNode message = body.putObject("message");
    ObjectNode data = mapper.createObjectNode();
    putData(data, content);
    message.put("data", mapper.writeValueAsString(data));
    ObjectNode android = message.putObject("android");
    android.put("bi_tag", AN_ID).put("ttl", "1296000s").put("urgency", "NORMAL");
    android.put("collapse_key", 100);
    String shown = content.title() == null ? content.body() : content.title();
    if (shown != null) {
      message
          .putObject("notification")
          .put("title", shown)
          .put("body", content.body() == null ? shown : content.body());
      ObjectNode notification = android.putObject("notification");
      notification.put("tag", collapseKey == null ? AN_ID : collapseKey);
      notification.putObject("click_action").put("type", 3);
    }
    message.putArray("token");
    return mapper.writeValueAsBytes(body).length + merged(request.overrides().hms());
  }

  /// As the worker names it: an `id` of the caller's own stays.
  private static void putData(ObjectNode node, Content content) {
    content.data().forEach(node::put);
    node.put(content.data().containsKey("id") ? "pushplanet_id" : "id", AN_ID);
  }

  /// What merging adds at most: the fields and a comma, without the braces.
  private static int merged(@Nullable ObjectNode overrides) {
    return overrides == null || overrides.isEmpty()
        ? 0
        : WireForm.mapper().writeValueAsBytes(overrides).length - 1;
  }

  static int mqtt(SendRequest request) {
    JsonMapper mapper = WireForm.mapper();
    ObjectNode payload = mapper.createObjectNode();
    payload.put("id", AN_ID);
    put(payload, request.content());
    ObjectNode data = payload.putObject("data");
    for (Map.Entry<String, String> entry : request.content().data().entrySet()) {
      data.put(entry.getKey(), entry.getValue());
    }
    payload.put("sent_at", A_TIME);
    if (request.delivery().collapseKey() != null) {
      payload.put("collapse_key", request.delivery().collapseKey());
    }
    return mapper.writeValueAsBytes(payload).length;
  }

  private static void put(ObjectNode node, Content content) {
    if (content.title() != null) {
      node.put("title", content.title());
    }
    if (content.body() != null) {
      node.put("body", content.body());
    }
  }
}
