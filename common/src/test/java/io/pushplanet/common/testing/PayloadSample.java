package io.pushplanet.common.testing;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/// A message with its payload for each channel. The dispatcher's tests compare its measures with
/// the lengths of these payloads, and the worker's tests the payloads that it writes, so that both
/// agree.
public enum PayloadSample {
  SHOWN(
      new Content("Shipped", "Größe \"M\"", Map.of("order", "77")),
      "{\"aps\":{\"alert\":{\"title\":\"Shipped\",\"body\":\"Größe \\\"M\\\"\"}},\"order\":\"77\",\"id\":\"ID\"}",
      "{\"notification\":{\"title\":\"Shipped\",\"body\":\"Größe \\\"M\\\"\"},\"data\":{\"order\":\"77\",\"id\":\"ID\"}}",
      "{\"message\":{\"notification\":{\"title\":\"Shipped\",\"body\":\"Größe \\\"M\\\"\"},"
          + "\"data\":\"{\\\"order\\\":\\\"77\\\",\\\"id\\\":\\\"ID\\\"}\","
          + "\"android\":{\"ttl\":\"1296000s\",\"urgency\":\"NORMAL\",\"collapse_key\":100,\"bi_tag\":\"ID\","
          + "\"notification\":{\"tag\":\"100\",\"click_action\":{\"type\":3}}},\"token\":[]}}",
      "{\"id\":\"ID\",\"title\":\"Shipped\",\"body\":\"Größe \\\"M\\\"\",\"data\":{\"order\":\"77\"},"
          + "\"sent_at\":\"2026-11-21T10:00:00.123Z\",\"collapse_key\":\"100\"}"),
  WITHOUT_DATA(
      new Content("Shipped", null, Map.of()),
      "{\"aps\":{\"alert\":{\"title\":\"Shipped\"}},\"id\":\"ID\"}",
      "{\"notification\":{\"title\":\"Shipped\"},\"data\":{\"id\":\"ID\"}}",
      "{\"message\":{\"notification\":{\"title\":\"Shipped\",\"body\":\"Shipped\"},"
          + "\"data\":\"{\\\"id\\\":\\\"ID\\\"}\","
          + "\"android\":{\"ttl\":\"1296000s\",\"urgency\":\"NORMAL\",\"collapse_key\":100,\"bi_tag\":\"ID\","
          + "\"notification\":{\"tag\":\"100\",\"click_action\":{\"type\":3}}},\"token\":[]}}",
      "{\"id\":\"ID\",\"title\":\"Shipped\",\"sent_at\":\"2026-11-21T10:00:00.123Z\",\"collapse_key\":\"100\"}"),
  DATA_ALONE(
      new Content(null, null, Map.of("id", "7")),
      "{\"aps\":{\"content-available\":1},\"id\":\"7\",\"pushplanet_id\":\"ID\"}",
      "{\"data\":{\"id\":\"7\",\"pushplanet_id\":\"ID\"}}",
      "{\"message\":{\"data\":\"{\\\"id\\\":\\\"7\\\",\\\"pushplanet_id\\\":\\\"ID\\\"}\","
          + "\"android\":{\"ttl\":\"1296000s\",\"urgency\":\"NORMAL\",\"collapse_key\":100,\"bi_tag\":\"ID\"},"
          + "\"token\":[]}}",
      "{\"id\":\"ID\",\"data\":{\"id\":\"7\"},\"sent_at\":\"2026-11-21T10:00:00.123Z\",\"collapse_key\":\"100\"}");

  private static final MessageId ID = new MessageId("0192e0f0-1234-7000-8000-000000000001");

  private final Content content;
  private final String apns;
  private final String fcm;
  private final String hms;
  private final String mqtt;

  PayloadSample(Content content, String apns, String fcm, String hms, String mqtt) {
    this.content = content;
    this.apns = apns;
    this.fcm = fcm;
    this.hms = hms;
    this.mqtt = mqtt;
  }

  public Content content() {
    return content;
  }

  public DeliveryOptions delivery() {
    return new DeliveryOptions(
        Route.AUTO, Duration.ofDays(15), Urgency.NORMAL, "100", Duration.ofSeconds(5));
  }

  public Push push() {
    return Push.accepted(
        ID,
        new AppId("shop"),
        content,
        delivery(),
        Overrides.NONE,
        Instant.parse("2026-11-21T10:00:00.123Z"),
        null);
  }

  /// To a token for alerts.
  public int apnsBytes() {
    return bytes(apns);
  }

  /// Of `notification` and `data` alone.
  public int fcmBytes() {
    return bytes(fcm);
  }

  /// Without tokens.
  public int hmsBytes() {
    return bytes(hms);
  }

  public int mqttBytes() {
    return bytes(mqtt);
  }

  private static int bytes(String payload) {
    return payload.replace("ID", ID.value()).getBytes(StandardCharsets.UTF_8).length;
  }
}
