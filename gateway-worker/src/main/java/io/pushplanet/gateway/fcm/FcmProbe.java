package io.pushplanet.gateway.fcm;

import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.CredentialProbe;
import io.pushplanet.gateway.fcm.AccessTokens.Grant;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/// Lets FCM validate a message to a topic and send it to nobody
/// (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send#request-body). Thread-safe.
final class FcmProbe implements CredentialProbe {
  private static final byte[] VALIDATE_ONLY =
      "{\"validate_only\":true,\"message\":{\"topic\":\"push-planet-check\",\"data\":{\"check\":\"1\"}}}"
          .getBytes(StandardCharsets.UTF_8);

  private final FcmSettings settings;
  private final AccessTokens tokens;
  private final LiveRequest requests;

  FcmProbe(FcmSettings settings, AccessTokens tokens, LiveRequest requests) {
    this.settings = settings;
    this.tokens = tokens;
    this.requests = requests;
  }

  @Override
  public String provider() {
    return "fcm";
  }

  @Override
  public Verdict ask(Credential credential, String environment) {
    if (!(credential instanceof FcmServiceAccount account)) {
      return new Verdict.Refused("not a service account");
    }
    return switch (tokens.current(account)) {
      case Grant.Refused(int status, String reason) ->
          new Verdict.Refused(status + " " + reason + " (access token)");
      case Grant.Unavailable(String why) -> new Verdict.Unreachable(why);
      case Grant.Granted granted -> {
        Verdict first = ask(account, granted);
        yield first instanceof Verdict.Refused(String reason) && reason.startsWith("401")
            ? askAgain(account, granted)
            : first;
      }
    };
  }

  /// The access token may have been taken back; another one tells.
  private Verdict askAgain(FcmServiceAccount account, Grant.Granted refused) {
    return switch (tokens.renewed(account, refused)) {
      case Grant.Refused(int status, String reason) ->
          new Verdict.Refused(status + " " + reason + " (access token)");
      case Grant.Unavailable(String why) -> new Verdict.Unreachable(why);
      case Grant.Granted granted -> ask(account, granted);
    };
  }

  private Verdict ask(FcmServiceAccount account, Grant.Granted granted) {
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
