package io.pushplanet.gateway.fcm;

import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.CredentialProbe.Verdict;
import io.pushplanet.gateway.oauth.OAuthProbe;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/// Lets FCM validate a message to a topic without sending it
/// (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send#request-body).
/// Thread-safe.
final class FcmProbe implements OAuthProbe.Question<FcmServiceAccount> {
  private static final String VALIDATE_ONLY =
      "{\"validate_only\":true,\"message\":{\"topic\":\"push-planet-check\",\"data\":{\"check\":\"1\"}}}";

  private final URI endpoint;

  FcmProbe(URI endpoint) {
    this.endpoint = endpoint;
  }

  @Override
  public URI to(FcmServiceAccount account) {
    String project = URLEncoder.encode(account.projectId(), StandardCharsets.UTF_8);
    return endpoint.resolve("/v1/projects/" + project + "/messages:send");
  }

  @Override
  public String body() {
    return VALIDATE_ONLY;
  }

  @Override
  public Verdict verdict(Answered answered) {
    int status = answered.status();
    FcmError said = FcmError.parse(answered.body());
    String code = said.code();
    String words = status + " " + (code.isEmpty() ? "not in Google's form" : code);
    return switch (FcmAnswers.of(status, code)) {
      case ACCEPTED ->
          said.name().isEmpty()
              ? new Verdict.Unreachable(words)
              : new Verdict.Accepted(Integer.toString(status));
      case CREDENTIAL_FAULT,
          TOKEN_OR_CREDENTIAL_FAULT,
          RENEW_ACCESS_TOKEN,
          REJECTED,
          TOKEN_GONE,
          TOKEN_GONE_IF_NAMED,
          TOKEN_FOREIGN ->
          code.isEmpty() ? new Verdict.Unreachable(words) : new Verdict.Refused(words);
      // Another credential is refused, which lies in the Firebase project.
      case OTHER_CREDENTIAL_FAULT -> new Verdict.Accepted(words);
      case QUOTA, UNAVAILABLE -> new Verdict.Unreachable(words);
    };
  }

  @Override
  public boolean wantsNewerToken(Answered answered) {
    String code = FcmError.parse(answered.body()).code();
    return FcmAnswers.of(answered.status(), code) == FcmAnswers.Meaning.RENEW_ACCESS_TOKEN;
  }
}
