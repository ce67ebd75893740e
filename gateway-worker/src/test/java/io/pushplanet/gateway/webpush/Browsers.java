package io.pushplanet.gateway.webpush;

/// The browser of RFC 8291's example (https://www.rfc-editor.org/rfc/rfc8291#section-5).
final class Browsers {
  static final String P256DH =
      "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
  static final String AUTH = "BTBZMqHH6r4Tts7J_aSIgg";

  private Browsers() {}

  static String json(String endpoint, String p256dh, String auth) {
    return "{\"endpoint\":\"%s\",\"keys\":{\"p256dh\":\"%s\",\"auth\":\"%s\"}}"
        .formatted(endpoint, p256dh, auth);
  }

  static BrowserSubscription at(String endpoint) {
    return BrowserSubscription.parse(json(endpoint, P256DH, AUTH));
  }
}
