package io.pushplanet.gateway.hms;

import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential.HmsClient;
import io.pushplanet.gateway.credential.CredentialProbe.Verdict;
import io.pushplanet.gateway.oauth.OAuthProbe;
import java.net.URI;

/// Lets Push Kit validate a message to a token that does not exist: whatever it says about that
/// token, it has accepted the credential. Thread-safe.
final class HmsProbe implements OAuthProbe.Question<HmsClient> {
  private static final String VALIDATE_ONLY =
      "{\"validate_only\":true,\"message\":{\"data\":\"{}\",\"android\":{\"ttl\":\"60s\"},\"token\":[\"push-planet-check\"]}}";

  private final URI endpoint;

  HmsProbe(URI endpoint) {
    this.endpoint = endpoint;
  }

  @Override
  public URI to(HmsClient client) {
    return endpoint.resolve("/v1/" + client.clientId() + "/messages:send");
  }

  @Override
  public String body() {
    return VALIDATE_ONLY;
  }

  @Override
  public Verdict verdict(Answered answered) {
    String code = HmsAnswer.parse(answered.body()).code();
    String words = answered.status() + " " + (code.isEmpty() ? "not in Huawei's form" : code);
    return switch (HmsAnswers.of(answered.status(), code)) {
      case ACCEPTED, PARTLY_ACCEPTED, TOKENS_ILLEGAL, REJECTED, NOT_URGENT ->
          new Verdict.Accepted(words);
      case CREDENTIAL_FAULT, RENEW_ACCESS_TOKEN -> new Verdict.Refused(words);
      // An answer without a code may come from a proxy.
      case REJECTED_TOGETHER ->
          code.isEmpty() ? new Verdict.Unreachable(words) : new Verdict.Accepted(words);
      case FLOW_CONTROL, LATER, INTERNAL -> new Verdict.Unreachable(words);
    };
  }

  @Override
  public boolean wantsNewerToken(Answered answered) {
    String code = HmsAnswer.parse(answered.body()).code();
    return HmsAnswers.of(answered.status(), code) == HmsAnswers.Meaning.RENEW_ACCESS_TOKEN;
  }
}
