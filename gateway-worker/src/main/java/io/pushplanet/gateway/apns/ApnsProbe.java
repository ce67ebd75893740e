package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.apns.ApnsAnswers.Remedy;
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
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
    this.trust = settings.trust();
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
    if (!(apns instanceof ApnsKey key)) {
      return answer(apns, environment, null);
    }
    Optional<Duration> rest = tokens.rest(key);
    if (rest.isPresent()) {
      return new Verdict.Unreachable("provider token rests for " + rest.get().toSeconds() + " s");
    }
    return answer(apns, environment, tokens.current(key));
  }

  private Verdict answer(Apns apns, String environment, @Nullable ProviderToken proof) {
    Map<String, String> headers = new HashMap<>();
    headers.put("content-type", "application/json");
    headers.put("apns-topic", apns.bundleId());
    headers.put("apns-push-type", "background");
    headers.put("apns-priority", "5");
    headers.put("apns-expiration", "0");
    LiveRequest request =
        switch (apns) {
          case ApnsKey _ -> new LiveRequest(trust.context());
          case ApnsCertificate certificate -> new LiveRequest(trust.context(certificate.keys()));
        };
    if (proof != null) {
      headers.put("authorization", "bearer " + proof.jwt());
    }
    URI device = settings.endpoint(environment).resolve("/3/device/" + NOBODY);
    try {
      Answered answered =
          request.post(device, headers, PAYLOAD, settings.connection().requestTimeout());
      if (apns instanceof ApnsKey key && proof != null) {
        heard(key, proof, answered);
      }
      return verdict(answered);
    } catch (IOException e) {
      return new Verdict.Unreachable(device.getHost() + ": " + e.getMessage());
    }
  }

  private void heard(ApnsKey key, ProviderToken proof, Answered answered) {
    if (ApnsAnswers.of(answered.status(), ApnsAnswers.reason(answered)).remedy
        == Remedy.OLDER_TOKEN) {
      tokens.keepOlder(key, proof, ProviderTokens.REST);
      return;
    }
    tokens.taken(key, answered.status());
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
