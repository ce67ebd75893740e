package io.pushplanet.dispatcher.audience;

import io.pushplanet.common.access.Sha256;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.route.DeviceRoute;
import io.pushplanet.dispatcher.audience.AudienceResolver.Found;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Topics of Firebase, which apps follow by `subscribeToTopic`, and conditions on them
/// (https://firebase.google.com/docs/cloud-messaging/send-topic-messages). Only Google knows the
/// followers.
final class FcmTopics {
  /// https://firebase.google.com/docs/reference/android/com/google/firebase/messaging/FirebaseMessaging#subscribeToTopic(java.lang.String)
  static final int LONGEST_TOPIC = 900;

  static final int MAX_IN_A_CONDITION = 5;

  /// Of the longest topics, with the operators that join them.
  static final int LONGEST_CONDITION = 5_000;

  private static final String NAME = "[A-Za-z0-9_.~%-]{1," + LONGEST_TOPIC + "}";
  private static final Pattern TOPIC = Pattern.compile(NAME);

  /// A word of a condition: a test of a topic, an operator between two tests, a bracket, or `!`.
  private static final Pattern WORD =
      Pattern.compile(
          "\\G *(?:(?<test>'" + NAME + "' +in +topics\\b)|(?<join>&&|\\|\\|)|(?<sign>[!()])) *");

  private static final String RECIPIENT_OF_TOPIC = "fcm-topic:";
  private static final String RECIPIENT_OF_CONDITION = "fcm-condition:";

  private FcmTopics() {}

  static boolean isTopic(String name) {
    return TOPIC.matcher(name).matches();
  }

  /// Whether an id stands for topics. No device can have such an id.
  static boolean isRecipient(String id) {
    return id.startsWith(RECIPIENT_OF_TOPIC) || id.startsWith(RECIPIENT_OF_CONDITION);
  }

  /// @return how many tests of topics a condition has, a repeated topic counting each time; 0 for a
  ///     text that is no condition
  static int countIn(String condition) {
    Matcher words = WORD.matcher(condition);
    int topics = 0;
    int open = 0;
    boolean complete = false;
    int end = 0;
    while (words.find()) {
      String sign = words.group("sign");
      boolean begins = words.group("test") != null || "!".equals(sign) || "(".equals(sign);
      if (begins == complete) {
        return 0;
      }
      if (words.group("test") != null) {
        topics++;
        complete = true;
      } else if (words.group("join") != null) {
        complete = false;
      } else if ("(".equals(sign)) {
        open++;
      } else if (")".equals(sign) && --open < 0) {
        return 0;
      }
      end = words.end();
    }
    return end == condition.length() && complete && open == 0 ? topics : 0;
  }

  /// The topic or condition itself, in the place of a device.
  static Found found(Audience.FcmFollowers followers) {
    DeviceRoute route =
        switch (followers) {
          case Audience.FcmTopic(String topic) -> route(recipientOf(topic), topic, FcmToken.TOPIC);
          case Audience.FcmCondition(String condition) ->
              route(
                  new DeviceId(RECIPIENT_OF_CONDITION + digest(condition)),
                  condition,
                  FcmToken.CONDITION);
        };
    return new Found(List.of(route.device()), Map.of(route.device(), route));
  }

  /// The platform is given as Android: only Google knows which services are behind FCM.
  private static DeviceRoute route(DeviceId recipient, String text, String kind) {
    FcmToken way = new FcmToken(text, kind, Instant.EPOCH);
    return new DeviceRoute(recipient, Platform.ANDROID, false, null, way, null, null);
  }

  /// The topic behind a prefix when that is a valid id, otherwise its digest. No topic has a colon
  /// in its name, so the two differ.
  private static DeviceId recipientOf(String topic) {
    String readable = RECIPIENT_OF_TOPIC + topic;
    return new DeviceId(
        DeviceId.isValid(readable) ? readable : RECIPIENT_OF_TOPIC + ":" + digest(topic));
  }

  private static String digest(String text) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(text));
  }
}
