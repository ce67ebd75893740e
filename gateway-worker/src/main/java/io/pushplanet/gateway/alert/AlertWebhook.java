package io.pushplanet.gateway.alert;

import io.pushplanet.gateway.connection.LiveRequest;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import tools.jackson.databind.json.JsonMapper;

/// Posts alerts, signed as Standard Webhooks specifies
/// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
/// Any answer from 200 to 299 accepts them. Thread-safe.
final class AlertWebhook implements AlertChannel {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final URI url;
  private final byte[] key;
  private final AlertSettings settings;
  private final LiveRequest requests;
  private final Clock clock;

  AlertWebhook(URI url, AlertSettings settings, LiveRequest requests, Clock clock) {
    this.url = url;
    this.settings = settings;
    this.requests = requests;
    this.clock = clock;
    this.key = settings.webhookKey();
  }

  @Override
  public Name name() {
    return Name.WEBHOOK;
  }

  @Override
  public void send(Alert alert) throws IOException {
    byte[] body = body(alert);
    int status = requests.post(url, headers(alert, body), body, settings.requestTimeout()).status();
    if (status < 200 || status >= 300) {
      throw new IOException("HTTP " + status);
    }
  }

  private static byte[] body(Alert alert) {
    return JSON.writeValueAsBytes(
        JSON.createObjectNode()
            .put("type", alert.kind())
            .put("timestamp", alert.at().toString())
            .set(
                "data",
                JSON.createObjectNode()
                    .put("app", alert.app())
                    .put("subject", alert.subject())
                    .put("text", alert.text())));
  }

  private Map<String, String> headers(Alert alert, byte[] body) {
    String id = "alert_" + alert.id();
    long timestamp = clock.instant().getEpochSecond();
    String signed = id + "." + timestamp + "." + new String(body, StandardCharsets.UTF_8);
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      String signature =
          Base64.getEncoder().encodeToString(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
      return Map.of(
          "content-type",
          "application/json",
          "webhook-id",
          id,
          "webhook-timestamp",
          Long.toString(timestamp),
          "webhook-signature",
          "v1," + signature);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK lacks HmacSHA256", e);
    }
  }
}
