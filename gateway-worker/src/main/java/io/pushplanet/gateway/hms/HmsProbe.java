package io.pushplanet.gateway.hms;

import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential.HmsClient;
import io.pushplanet.gateway.credential.CredentialProbe.Verdict;
import io.pushplanet.gateway.oauth.Grant;
import io.pushplanet.gateway.oauth.OAuthProbe;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// Lets Push Kit validate a message to a token of nobody's: whatever it says of that token, it has taken the credential.
/// Thread-safe.
final class HmsProbe implements OAuthProbe.Question<HmsClient> {
  private static final byte[] VALIDATE_ONLY =
      "{\"validate_only\":true,\"message\":{\"data\":\"{}\",\"android\":{\"ttl\":\"60s\"},\"token\":[\"push-planet-check\"]}}"
          .getBytes(StandardCharsets.UTF_8);

  private final HmsSettings settings;
  private final LiveRequest requests;

  HmsProbe(HmsSettings settings, LiveRequest requests) {
    this.settings = settings;
    this.requests = requests;
  }

  @Override
  public Verdict ask(HmsClient client, Grant.Granted granted) {
    URI send = settings.endpoint().resolve("/v1/" + client.clientId() + "/messages:send");
    try {
      return verdict(
          requests.post(
              send,
              Map.of(
                  "content-type", "application/json", "authorization", "Bearer " + granted.token()),
              VALIDATE_ONLY,
              settings.requestTimeout()));
    } catch (IOException e) {
      return new Verdict.Unreachable(send.getHost() + ": " + e.getMessage());
    }
  }

  private static Verdict verdict(Answered answered) {
    String code = HmsAnswer.parse(answered.body()).code();
    String words = answered.status() + (code.isEmpty() ? "" : " " + code);
    return switch (HmsAnswers.of(answered.status(), code)) {
      case ACCEPTED, PARTLY_ACCEPTED, TOKENS_ILLEGAL, REJECTED, NOT_URGENT ->
          new Verdict.Accepted(words);
      case CREDENTIAL_FAULT, RENEW_ACCESS_TOKEN -> new Verdict.Refused(words);
      // An answer without a code may be anybody's.
      case REJECTED_TOGETHER ->
          code.isEmpty() ? new Verdict.Refused(words) : new Verdict.Accepted(words);
      case FLOW_CONTROL, LATER, INTERNAL -> new Verdict.Unreachable(words);
    };
  }
}
