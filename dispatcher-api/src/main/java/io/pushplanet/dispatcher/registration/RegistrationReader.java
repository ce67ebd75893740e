package io.pushplanet.dispatcher.registration;

import com.google.crypto.tink.subtle.EllipticCurves;
import com.google.crypto.tink.subtle.EllipticCurves.CurveType;
import com.google.crypto.tink.subtle.EllipticCurves.PointFormatType;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.audience.AudienceReader;
import io.pushplanet.dispatcher.input.Fields;
import io.pushplanet.dispatcher.input.Findings;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Base64;
import java.util.IllformedLocaleException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads and validates registrations of devices. It reports every fault.
public final class RegistrationReader {
  public static final int LONGEST_VERSION = 64;
  private static final int LONGEST_TOKEN = 4_096;
  private static final int LONGEST_LOCALE = 35;
  private static final int LONGEST_TIMEZONE = 64;

  /// Also the most topics.
  public static final int MAX_TAGS = 100;

  /// Apple says only that the token is binary and its length may change.
  private static final Pattern APNS_TOKEN =
      Pattern.compile("(?:[0-9a-fA-F]{2}){4," + ApnsToken.LONGEST_TOKEN / 2 + "}");

  private static final Pattern FCM_TOKEN = Pattern.compile("[A-Za-z0-9:_.~%=+/-]{1,4096}");
  private static final Pattern PRINTABLE = Pattern.compile("[\\x21-\\x7e]+");
  private static final int LONGEST_ENDPOINT = 2_000;
  private static final int HIGHEST_PORT = 65_535;
  private static final Set<String> ZONES = Set.copyOf(ZoneId.getAvailableZoneIds());

  /// A list that is absent from a registration stays as it is. A patch that sets a list to null
  /// empties it.
  private static final Set<String> LISTS = Set.of("tags", "topics");

  /// Objects of which a patch may change single fields: a new APNs token keeps the type and
  /// environment of the one before.
  private static final Set<String> MERGED = Set.of("channels", "apns");

  private final Fields body;

  public RegistrationReader(ObjectNode body, Findings findings) {
    this.body = new Fields(body, "", findings);
  }

  /// The id in the body, if there is one.
  public @Nullable DeviceId device() {
    String id = body.text("device", 1_000);
    return id != null && AudienceReader.isDeviceId(body.findings(), body.at("device"), id)
        ? new DeviceId(id)
        : null;
  }

  public void wrongDevice(String detail) {
    body.wrong("device", "other_device", detail);
  }

  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422 with every fault
  public Registration registration() {
    Platform platform = body.word("platform", Platform.class);
    if (!body.has("platform")) {
      body.wrong("platform", "required", "platform is one of android, ios, web, iot");
    }
    Registration.Channels channels = channels(body.fields("channels"));
    String user = body.key("user", AudienceReader.LONGEST_USER);
    String locale = locale(body);
    String timezone = timezone(body);
    List<String> tags = tags(body);
    List<String> topics = topics(body);
    String version = body.text("app_version", LONGEST_VERSION);
    body.done();
    body.findings().refuse();
    if (platform == null) {
      throw new IllegalStateException("a fault was found but not told");
    }
    return new Registration(platform, channels, user, locale, timezone, tags, topics, version);
  }

  public static @Nullable String locale(Fields fields) {
    String locale = fields.text("locale", LONGEST_LOCALE);
    if (locale == null) {
      return null;
    }
    try {
      return new Locale.Builder().setLanguageTag(locale).build().getLanguage().isEmpty()
          ? wrongLocale(fields)
          : locale;
    } catch (IllformedLocaleException e) {
      return wrongLocale(fields);
    }
  }

  private static @Nullable String wrongLocale(Fields fields) {
    fields.wrong("locale", "not_a_locale", "locale is a BCP 47 tag such as ko-KR");
    return null;
  }

  public static @Nullable String timezone(Fields fields) {
    String zone = fields.text("timezone", LONGEST_TIMEZONE);
    if (zone != null && !ZONES.contains(zone)) {
      fields.wrong("timezone", "not_a_timezone", "timezone is an IANA name such as Asia/Seoul");
      return null;
    }
    return zone;
  }

  static @Nullable List<String> tags(Fields fields) {
    return fields.keys("tags", MAX_TAGS, AudienceReader.LONGEST_TAG);
  }

  static @Nullable List<String> topics(Fields fields) {
    return fields.texts(
        "topics",
        MAX_TAGS,
        AudienceReader.LONGEST_TAG,
        (where, topic) -> AudienceReader.isTopic(fields.findings(), where, topic));
  }

  private static Registration.Channels channels(@Nullable Fields channels) {
    if (channels == null) {
      return new Registration.Channels(false, null, null, null, null);
    }
    Boolean mqtt = channels.flag("mqtt");
    Registration.Token apns = apns(channels.fields("apns"));
    Registration.Token fcm = fcm(channels.fields("fcm"));
    Registration.Token hms = hms(channels.fields("hms"));
    Registration.Token webpush = webpush(channels.fields("webpush"));
    boolean others = (mqtt != null && mqtt) || fcm != null || hms != null || webpush != null;
    if (others && apns != null && !apns.kind().equals(ApnsPushType.ALERT.kind())) {
      channels.wrong(
          "apns",
          "not_alone",
          "a token of push type "
              + apns.kind()
              + " is a device of its own: register the other channels as another, with the same user");
    }
    channels.done();
    return new Registration.Channels(mqtt != null && mqtt, apns, fcm, hms, webpush);
  }

  static Registration.@Nullable Token apns(@Nullable Fields apns) {
    if (apns == null) {
      return null;
    }
    String token = apns.requiredText("token", LONGEST_TOKEN);
    if (token != null && !APNS_TOKEN.matcher(token).matches()) {
      apns.wrong(
          "token",
          "not_a_token",
          "an APNs token is hexadecimal, two digits a byte, 8 to 2,048 digits");
      token = null;
    }
    String environment = apns.text("environment", 16);
    if (environment != null && !Set.of("production", "sandbox").contains(environment)) {
      apns.wrong("environment", "unknown_value", "environment is one of production, sandbox");
    }
    ApnsPushType type = apns.word("push_type", ApnsPushType.class);
    apns.done();
    return token == null
        ? null
        : new Registration.Token(
            // Upper or lower case: the same digits are the same iPhone.
            token.toLowerCase(Locale.ROOT),
            (type == null ? ApnsPushType.ALERT : type).kind(),
            environment == null ? "production" : environment);
  }

  static Registration.@Nullable Token fcm(@Nullable Fields fcm) {
    if (fcm == null) {
      return null;
    }
    String token = fcm.text("token", LONGEST_TOKEN);
    String installation = fcm.text("fid", LONGEST_TOKEN);
    if (fcm.has("token") == fcm.has("fid")) {
      fcm.wrong("token", "required", "give exactly one of token and fid");
    }
    fcm.done();
    String kind = token != null ? "token" : "fid";
    String value = token != null ? token : installation;
    if (value != null && !FCM_TOKEN.matcher(value).matches()) {
      fcm.wrong(kind, "not_a_token", "this is no FCM " + kind + ": letters, digits and : _ . ~ -");
      return null;
    }
    return value == null ? null : new Registration.Token(value, kind, "production");
  }

  static Registration.@Nullable Token hms(@Nullable Fields hms) {
    if (hms == null) {
      return null;
    }
    String token = hms.requiredText("token", LONGEST_TOKEN);
    hms.done();
    if (token != null && !PRINTABLE.matcher(token).matches()) {
      hms.wrong("token", "not_a_token", "this is no Push Kit token: printable, without blanks");
      return null;
    }
    return token == null ? null : new Registration.Token(token, "token", "production");
  }

  /// https://www.w3.org/TR/push-api/#dom-pushsubscription-tojson
  static Registration.@Nullable Token webpush(@Nullable Fields webpush) {
    if (webpush == null) {
      return null;
    }
    String endpoint = webpush.requiredText("endpoint", LONGEST_ENDPOINT);
    if (endpoint != null && !isHttps(endpoint)) {
      webpush.wrong("endpoint", "not_a_url", "endpoint is an https URL without user and password");
    }
    JsonNode expires = webpush.value("expirationTime");
    if (expires != null && !expires.isIntegralNumber()) {
      webpush.wrong("expirationTime", "not_a_number", "expirationTime is a whole number or null");
    }
    Fields keys = webpush.fields("keys");
    if (keys == null && !webpush.has("keys")) {
      webpush.wrong("keys", "required", "keys has p256dh and auth");
    }
    byte[] point = keys == null ? null : bytes(keys, "p256dh", 65);
    byte[] auth = keys == null ? null : bytes(keys, "auth", 16);
    if (keys != null) {
      if (point != null && !isOnCurve(point)) {
        keys.wrong("p256dh", "not_a_key", "p256dh is no uncompressed point of P-256");
      }
      keys.done();
    }
    webpush.done();
    return endpoint == null || point == null || auth == null
        ? null
        : new Registration.Token(subscription(endpoint, point, auth), "subscription", "production");
  }

  /// The same text for the same subscription, however the app writes it: the platform compares
  /// subscriptions by this text. Without `expirationTime`, which some apps leave out; the push
  /// service says when a subscription has ended.
  private static String subscription(String endpoint, byte[] point, byte[] auth) {
    ObjectNode json = WireForm.mapper().createObjectNode().put("endpoint", endpoint);
    Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
    json.putObject("keys")
        .put("p256dh", base64.encodeToString(point))
        .put("auth", base64.encodeToString(auth));
    return new String(WireForm.write(json), StandardCharsets.UTF_8);
  }

  /// Accepts any host. Whether a message may be sent to it is decided by the worker, which sees its
  /// addresses.
  private static boolean isHttps(String text) {
    if (!PRINTABLE.matcher(text).matches()) {
      return false;
    }
    try {
      URI uri = URI.create(text);
      return "https".equalsIgnoreCase(uri.getScheme())
          && uri.getHost() != null
          && uri.getPort() != 0
          && uri.getPort() <= HIGHEST_PORT
          && uri.getRawUserInfo() == null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean isOnCurve(byte[] point) {
    try {
      EllipticCurves.getEcPublicKey(CurveType.NIST_P256, PointFormatType.UNCOMPRESSED, point);
      return true;
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  private static byte @Nullable [] bytes(Fields keys, String name, int length) {
    String text = keys.requiredText(name, 200);
    if (text == null) {
      return null;
    }
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(text);
      if (bytes.length == length) {
        return bytes;
      }
    } catch (IllegalArgumentException e) {
      // reported below
    }
    keys.wrong(name, "not_a_key", name + " is " + length + " bytes in base64url");
    return null;
  }

  /// Applies a merge patch (RFC 7396) to the JSON form of a registration. Tokens and subscriptions
  /// of other vendors than Apple are replaced as a whole.
  public static ObjectNode merged(ObjectNode registration, ObjectNode patch) {
    ObjectNode merged = registration.deepCopy();
    for (String name : new ArrayList<>(patch.propertyNames())) {
      JsonNode value = patch.get(name);
      if (value.isNull() && LISTS.contains(name)) {
        merged.putArray(name);
      } else if (value.isNull()) {
        merged.remove(name);
      } else if (value instanceof ObjectNode change
          && merged.get(name) instanceof ObjectNode before
          && MERGED.contains(name)) {
        merged.set(name, merged(before, change));
      } else {
        merged.set(name, value);
      }
    }
    return merged;
  }
}
