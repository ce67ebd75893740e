package io.pushplanet.dispatcher.audience;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.target.ActivityChannelId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.dispatcher.input.Fields;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.problem.FieldError;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads `audience`, which is exactly one of the words in [#SUPPORTED]. `and` and `or` are lists of
/// audiences, and `not` is one. They nest [#DEEPEST] deep and have at most [#MAX_PARTS] parts in
/// all, so that no request can ask for a query without end. A `channel`, an `fcm_topic` and an
/// `fcm_condition` stand alone, because only Apple and Google know their followers.
public final class AudienceReader {
  public static final int LONGEST_TAG = 128;
  public static final int LONGEST_USER = 128;
  public static final int MAX_USERS = 1_000;
  public static final int MAX_PARTS = 32;
  public static final int DEEPEST = 4;

  private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9._~%-]{1,128}");

  private static final List<String> SUPPORTED =
      List.of(
          "device",
          "devices",
          "user",
          "users",
          "topic",
          "tag",
          "all",
          "and",
          "or",
          "not",
          "channel",
          "fcm_topic",
          "fcm_condition");
  private static final List<String> PLANNED = List.of("location");

  private int parts;

  private AudienceReader() {}

  /// @param request the object that has the field `audience`
  /// @return null when there is a fault, which is then among the findings
  public static @Nullable Audience read(Fields request) {
    if (!request.has("audience")) {
      request.wrong("audience", "required", "audience is required, such as {\"device\":\"d1\"}");
      return null;
    }
    Fields audience = request.fields("audience");
    return audience == null ? null : new AudienceReader().one(audience, 0);
  }

  private @Nullable Audience one(Fields audience, int depth) {
    refusePlanned(audience);
    List<String> given = SUPPORTED.stream().filter(word -> audience.node().has(word)).toList();
    SUPPORTED.forEach(audience::mentions);
    audience.done();
    if (given.size() != 1) {
      audience
          .findings()
          .add(
              audience.at(),
              given.isEmpty() ? "required" : "ambiguous",
              "audience has exactly one of " + String.join(", ", SUPPORTED));
      return null;
    }
    return switch (given.getFirst()) {
      case "device" -> device(audience);
      case "devices" -> devices(audience);
      case "user" -> user(audience);
      case "users" -> users(audience);
      case "topic" -> topic(audience);
      case "tag" -> tag(audience);
      case "and" -> {
        var all = parts(audience, "and", depth);
        yield all == null ? null : new Audience.And(all);
      }
      case "or" -> {
        var any = parts(audience, "or", depth);
        yield any == null ? null : new Audience.Or(any);
      }
      case "not" -> {
        var other = deepEnough(audience, "not", depth) ? null : audience.fields("not");
        var part = other == null ? null : one(other, depth + 1);
        yield part == null ? null : new Audience.Not(part);
      }
      case "channel" -> channel(audience, depth);
      case "fcm_topic" -> fcmTopic(audience, depth);
      case "fcm_condition" -> fcmCondition(audience, depth);
      default -> all(audience);
    };
  }

  private @Nullable List<Audience> parts(Fields audience, String name, int depth) {
    if (deepEnough(audience, name, depth)) {
      return null;
    }
    List<Fields> given = audience.list(name);
    if (given == null) {
      return null;
    }
    parts += given.size();
    if (given.isEmpty() || parts > MAX_PARTS) {
      audience.wrong(
          name,
          given.isEmpty() ? "empty" : "too_many",
          "an audience has 1 to " + MAX_PARTS + " parts in all");
      return null;
    }
    List<Audience> read = new ArrayList<>();
    for (Fields part : given) {
      Audience one = one(part, depth + 1);
      if (one != null) {
        read.add(one);
      }
    }
    return read.size() == given.size() ? read : null;
  }

  private static boolean deepEnough(Fields audience, String name, int depth) {
    if (depth >= DEEPEST) {
      audience.wrong(name, "too_deep", "and, or and not nest at most " + DEEPEST + " deep");
      return true;
    }
    return false;
  }

  private static void refusePlanned(Fields audience) {
    for (String word : PLANNED) {
      if (audience.node().has(word)) {
        String detail =
            "audience \""
                + word
                + "\" is not supported; use one of "
                + String.join(", ", SUPPORTED);
        throw ProblemException.of(
            ProblemCode.AUDIENCE_NOT_SUPPORTED,
            detail,
            List.of(new FieldError(audience.at(word), "audience_not_supported", detail)));
      }
    }
  }

  private static @Nullable Audience device(Fields audience) {
    String id = audience.requiredText("device", 1_000);
    if (id == null || !isDeviceId(audience.findings(), audience.at("device"), id)) {
      return null;
    }
    return new Audience.Devices(List.of(new DeviceId(id)));
  }

  private static @Nullable Audience devices(Fields audience) {
    List<String> ids =
        audience.texts(
            "devices",
            Audience.Devices.MAX,
            1_000,
            (where, id) -> isDeviceId(audience.findings(), where, id));
    if (ids == null) {
      requireSome(audience, "devices");
      return null;
    }
    if (ids.isEmpty()) {
      if (audience.node().get("devices").isEmpty()) {
        audience.wrong("devices", "empty", "devices has 1 to 1,000 ids");
      }
      return null;
    }
    return new Audience.Devices(ids.stream().map(DeviceId::new).toList());
  }

  /// @param pointer the place of the audience in the body
  public static boolean isDeviceId(Findings findings, String pointer, String id) {
    if (!DeviceId.isValid(id)) {
      findings.add(
          pointer, "not_a_device_id", "a device id is 1 to 64 letters, digits and . _ : -");
      return false;
    }
    if (FcmTopics.isRecipient(id)) {
      findings.add(
          pointer,
          "not_a_device_id",
          "such an id stands for a topic of Firebase's; send with {\"fcm_topic\":\"...\"}");
      return false;
    }
    return true;
  }

  private static @Nullable Audience user(Fields audience) {
    String user = audience.requiredKey("user", LONGEST_USER);
    return user == null ? null : new Audience.Users(List.of(user));
  }

  private static @Nullable Audience users(Fields audience) {
    List<String> users = audience.keys("users", MAX_USERS, LONGEST_USER);
    if (users == null) {
      requireSome(audience, "users");
      return null;
    }
    if (users.isEmpty()) {
      if (audience.node().get("users").isEmpty()) {
        audience.wrong("users", "empty", "users has 1 to 1,000 ids");
      }
      return null;
    }
    return new Audience.Users(users);
  }

  private static @Nullable Audience topic(Fields audience) {
    String topic = audience.requiredText("topic", LONGEST_TAG);
    if (topic == null) {
      return null;
    }
    return isTopic(audience.findings(), audience.at("topic"), topic)
        ? new Audience.Topic(topic)
        : null;
  }

  /// @param pointer the place of the audience in the body
  public static boolean isTopic(Findings findings, String pointer, String topic) {
    if (!TOPIC.matcher(topic).matches()) {
      findings.add(pointer, "not_a_topic", "a topic is 1 to 128 letters, digits and . _ ~ % -");
      return false;
    }
    return true;
  }

  private static @Nullable Audience tag(Fields audience) {
    String tag = audience.requiredKey("tag", LONGEST_TAG);
    return tag == null ? null : new Audience.Tag(tag);
  }

  private static @Nullable Audience channel(Fields audience, int depth) {
    String id = audience.requiredText("channel", 1_000);
    if (isPart(audience, "channel", depth)) {
      return null;
    }
    if (id != null && !ActivityChannelId.isValid(id)) {
      audience.wrong(
          "channel",
          "not_a_channel_id",
          "a channel id is \"channel-\" and a UUID, as it was given");
      return null;
    }
    return id == null ? null : new Audience.ActivityChannel(new ActivityChannelId(id));
  }

  private static @Nullable Audience fcmTopic(Fields audience, int depth) {
    String topic = audience.requiredText("fcm_topic", FcmTopics.LONGEST_TOPIC);
    if (topic == null || isPart(audience, "fcm_topic", depth)) {
      return null;
    }
    if (!FcmTopics.isTopic(topic)) {
      audience.wrong(
          "fcm_topic",
          "not_an_fcm_topic",
          "a topic of Firebase's is 1 to 900 letters, digits and - _ . ~ %, without \"/topics/\"");
      return null;
    }
    return new Audience.FcmTopic(topic);
  }

  private static @Nullable Audience fcmCondition(Fields audience, int depth) {
    String condition = audience.requiredText("fcm_condition", FcmTopics.LONGEST_CONDITION);
    if (condition == null || isPart(audience, "fcm_condition", depth)) {
      return null;
    }
    int topics = FcmTopics.countIn(condition);
    if (topics == 0) {
      audience.wrong(
          "fcm_condition",
          "not_an_fcm_condition",
          "a condition is 'a' in topics, joined by && and ||, with ! and ( ) where wanted");
      return null;
    }
    if (topics > FcmTopics.MAX_IN_A_CONDITION) {
      audience.wrong(
          "fcm_condition",
          "too_many",
          "a condition names at most " + FcmTopics.MAX_IN_A_CONDITION + " topics, not " + topics);
      return null;
    }
    return new Audience.FcmCondition(condition);
  }

  private static boolean isPart(Fields audience, String name, int depth) {
    if (depth > 0) {
      audience.wrong(name, "stands_alone", name + " is not part of another audience");
      return true;
    }
    return false;
  }

  private static @Nullable Audience all(Fields audience) {
    Boolean all = audience.flag("all");
    if (all == null || !all) {
      audience.wrong("all", "unknown_value", "write {\"all\":true} to reach every device");
      return null;
    }
    return new Audience.All();
  }

  private static void requireSome(Fields audience, String name) {
    if (!audience.has(name)) {
      audience.wrong(
          name, "required", String.format(Locale.ROOT, "%s is a list of 1 to 1,000 ids", name));
    }
  }
}
