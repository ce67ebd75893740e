package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.Credential.Apns;
import io.pushplanet.gateway.credential.Credential.ApnsCertificate;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.credential.CredentialProbe;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/// Sends to a device that does not exist. APNs checks the sender and the topic first, so
/// "BadDeviceToken" means that both are good. With a key it uses the platform's shared provider
/// token, because APNs counts how many a team makes. Thread-safe.
final class ApnsProbe implements CredentialProbe {
  private static final String NOBODY = "00".repeat(32);
  private static final String NO_DEVICE = "BadDeviceToken";
  private static final byte[] PAYLOAD =
      "{\"aps\":{\"content-available\":1}}".getBytes(StandardCharsets.UTF_8);

  private final ApnsSettings settings;
  private final ProviderTokens tokens;
  private final Trust trust;

  ApnsProbe(ApnsSettings settings, ProviderTokens tokens) {
    this.settings = settings;
    this.tokens = tokens;
    this.trust = Trust.with(settings.trustedCertificates());
  }

  @Override
  public String provider() {
    return "apns";
  }

  @Override
  public Verdict ask(Credential credential, String environment) {
    if (!(credential instanceof Apns apns)) {
      return new Verdict.Refused("not a credential for APNs");
    }
    Map<String, String> headers = new HashMap<>();
    headers.put("content-type", "application/json");
    headers.put("apns-topic", apns.bundleId());
    headers.put("apns-push-type", "background");
    headers.put("apns-priority", "5");
    headers.put("apns-expiration", "0");
    LiveRequest request =
        switch (apns) {
          case ApnsKey key -> {
            headers.put("authorization", "bearer " + tokens.current(key).jwt());
            yield new LiveRequest(trust.context());
          }
          case ApnsCertificate certificate -> new LiveRequest(trust.context(certificate.keys()));
        };
    URI device = settings.endpoint(environment).resolve("/3/device/" + NOBODY);
    try {
      return verdict(
          request.post(device, headers, PAYLOAD, settings.connection().requestTimeout()));
    } catch (IOException e) {
      return new Verdict.Unreachable(device.getHost() + ": " + e.getMessage());
    }
  }

  static Verdict verdict(Answered answered) {
    int status = answered.status();
    String reason = ApnsAnswers.reason(answered);
    String words = status + (reason.isEmpty() ? "" : " " + reason);
    if ((status == 200 && ApnsAnswers.isOfApple(answered)) || reason.equals(NO_DEVICE)) {
      return new Verdict.Accepted(words);
    }
    if (reason.isEmpty()) {
      return new Verdict.Unreachable(words + " not in Apple's form");
    }
    // Too many tokens or pushes, or a server in trouble: these say nothing about the credential. An
    // expired token is renewed by the next send.
    boolean silent = status == 429 || status >= 500 || reason.equals("ExpiredProviderToken");
    return silent ? new Verdict.Unreachable(words) : new Verdict.Refused(words);
  }
}
