package io.pushplanet.dispatcher.push;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.LiveActivity.BroadcastChannel;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.WebPushSubscription;
import io.pushplanet.common.route.DeviceRoute;
import io.pushplanet.dispatcher.problem.FieldError;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Refuses a message that a provider would refuse for its size, before the message is accepted.
/// [PayloadMeasure] gives the size of each payload.
final class PayloadSizes {
  private static final int APNS = ApnsPushType.ALERT.largestPayloadBytes();

  /// https://firebase.google.com/docs/cloud-messaging/concept-options#notifications_and_data_messages
  private static final int FCM = 4_096;

  /// For messages to topics (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode).
  private static final int FCM_TOPIC = 2_048;

  private static final int WEB_PUSH = WebPushSubscription.LARGEST_MESSAGE_BYTES;

  /// The body without its tokens
  /// (https://developer.huawei.com/consumer/en/doc/HMSCore-References/https-send-api-0000001050986197).
  private static final int HMS = 4_096;

  /// The longest packet that a device must be ready to take.
  private static final int MQTT = 4_096;

  /// The most that the names, quotes, braces, id and time of any payload take.
  private static final int MAX_BYTES_AROUND = 400;

  /// Each character may be escaped.
  private static final int MAX_BYTES_OF_A_KEY = 6 * DeliveryOptions.LONGEST_COLLAPSE_KEY_BYTES;

  private PayloadSizes() {}

  /// Checks everything that does not depend on the devices. A size that only a call may have is
  /// left to [#check(SendRequest, Collection)].
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

  /// A call is measured for APNs alone, but the overrides for other providers travel with it to
  /// each of its devices.
  private static void checkOverrides(Overrides overrides) {
    List<FieldError> errors = new ArrayList<>();
    compare("/overrides/fcm", "FCM", PayloadMeasure.merged(overrides.fcm()), FCM, errors);
    compare(
        "/overrides/webpush",
        "Web Push",
        PayloadMeasure.merged(overrides.webpush()),
        WEB_PUSH,
        errors);
    compare("/overrides/hms", "HMS", PayloadMeasure.merged(overrides.hms()), HMS, errors);
    refuse(errors);
  }

  /// Checks a message that may be a call, now that its devices are known.
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
    compare(
        "APNs",
        PayloadMeasure.apns(request, ApnsPushType.VOIP),
        request.overrides().apns(),
        most,
        errors);
    refuse(errors);
  }

  private static boolean takesCalls(DeviceRoute route) {
    return route.apns() != null && route.apns().type() == ApnsPushType.VOIP;
  }

  private static boolean mayBeACall(SendRequest request) {
    return request.audience() instanceof Audience.Devices
        && request.delivery().route() != Route.MQTT
        && request.overrides().liveActivity() == null
        && PayloadMeasure.apns(request, ApnsPushType.ALERT) > APNS;
  }

  private static void checkAll(SendRequest request) {
    List<FieldError> errors = new ArrayList<>();
    if (request.audience() instanceof Audience.FcmFollowers) {
      compare("FCM", PayloadMeasure.fcm(request), request.overrides().fcm(), FCM_TOPIC, errors);
      refuse(errors);
      return;
    }
    Route route = request.delivery().route();
    if (route != Route.MQTT) {
      LiveActivity activity = request.overrides().liveActivity();
      if (activity == null) {
        compare(
            "APNs",
            PayloadMeasure.apns(request, ApnsPushType.ALERT),
            request.overrides().apns(),
            APNS,
            errors);
      } else {
        // An activity that goes over a channel has no token.
        int most = activity.token() == null ? BroadcastChannel.LARGEST_PAYLOAD_BYTES : APNS;
        compare(
            "/live_activity", "APNs", PayloadMeasure.liveActivity(request, activity), most, errors);
      }
      compare("FCM", PayloadMeasure.fcm(request), request.overrides().fcm(), FCM, errors);
      // Few messages are for browsers or Huawei's phones: a message without overrides for them may
      // be larger than these take.
      if (request.overrides().webpush() != null) {
        compareWebPush(request, errors);
      }
      if (request.overrides().hms() != null) {
        compareHms(request, errors);
      }
    }
    if (route != Route.VENDOR) {
      compare("MQTT", PayloadMeasure.mqtt(request), null, MQTT, errors);
    }
    refuse(errors);
  }

  /// Checks a message that reaches its devices over this channel only.
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

  /// Whether the message is so short that it fits however it is written. Most are, and need not be
  /// written again to be measured.
  static boolean surelyFits(SendRequest request) {
    if (!request.overrides().equals(Overrides.NONE)) {
      return false;
    }
    String collapseKey = request.delivery().collapseKey();
    int bytes = request.written().bytes() + (collapseKey == null ? 0 : MAX_BYTES_OF_A_KEY);
    return bytes + MAX_BYTES_AROUND <= least(request.audience());
  }

  private static int least(Audience audience) {
    return audience instanceof Audience.FcmFollowers
        ? FCM_TOPIC
        : Math.min(MQTT, Math.min(APNS, FCM));
  }

  private static void compareWebPush(SendRequest request, List<FieldError> errors) {
    compare(
        "Web Push",
        PayloadMeasure.webPush(request),
        request.overrides().webpush(),
        WEB_PUSH,
        errors);
  }

  private static void compareHms(SendRequest request, List<FieldError> errors) {
    compare("HMS", PayloadMeasure.hms(request), request.overrides().hms(), HMS, errors);
  }

  /// Points at the overrides when the message would fit without them.
  private static void compare(
      String provider,
      int bytes,
      @Nullable ObjectNode overrides,
      int most,
      List<FieldError> errors) {
    boolean fits = bytes - PayloadMeasure.merged(overrides) <= most;
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
}
