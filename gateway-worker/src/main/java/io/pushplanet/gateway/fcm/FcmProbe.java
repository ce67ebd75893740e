package io.pushplanet.gateway.fcm;

import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.CredentialProbe.Verdict;
import io.pushplanet.gateway.oauth.Grant;
import io.pushplanet.gateway.oauth.OAuthProbe;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// Lets FCM validate a message to a topic and send it to nobody
/// (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send#request-body). Thread-safe.
final class FcmProbe implements OAuthProbe.Question<FcmServiceAccount> {
  private static final byte[] VALIDATE_ONLY =
      "{\"validate_only\":true,\"message\":{\"topic\":\"push-planet-check\",\"data\":{\"check\":\"1\"}}}"
          .getBytes(StandardCharsets.UTF_8);

  private final FcmSettings settings;
  private final LiveRequest requests;

  FcmProbe(FcmSettings settings, LiveRequest requests) {
    this.settings = settings;
    this.requests = requests;
  }

  @Override
  public Verdict ask(FcmServiceAccount account, Grant.Granted granted) {
    String project = URLEncoder.encode(account.projectId(), StandardCharsets.UTF_8);
    URI send = settings.endpoint().resolve("/v1/projects/" + project + "/messages:send");
    try {
      return verdict(
          requests.post(
              send,
              Map.of(
                  "content-type", "application/json", "authorization", "Bearer " + granted.token()),
              VALIDATE_ONLY,
              settings.connection().requestTimeout()));
    } catch (IOException e) {
      return new Verdict.Unreachable(send.getHost() + ": " + e.getMessage());
    }
  }

  private static Verdict verdict(Answered answered) {
    int status = answered.status();
    String code = FcmError.parse(answered.body()).code();
    String words = status + (code.isEmpty() ? "" : " " + code);
    if (status == 200) {
      return new Verdict.Accepted(words);
    }
    return status == 429 || status >= 500
        ? new Verdict.Unreachable(words)
        : new Verdict.Refused(words);
  }
}
