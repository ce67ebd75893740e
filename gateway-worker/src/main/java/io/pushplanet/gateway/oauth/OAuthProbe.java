package io.pushplanet.gateway.oauth;

import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.CredentialProbe;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/// Tries a credential that is exchanged for access tokens: whether it gets one, and whether the
/// provider accepts that. Thread-safe.
public final class OAuthProbe<C extends Credential> implements CredentialProbe {
  private final String provider;
  private final Class<C> kind;
  private final AccessTokens<C> tokens;
  private final LiveRequest requests;
  private final Duration deadline;
  private final Question<C> question;

  /// A request that succeeds only with a good access token and reaches no device.
  public interface Question<C> {
    URI to(C credential);

    /// The request's body, as JSON.
    String body();

    Verdict verdict(Answered answered);

    /// Whether a newer access token may get another answer.
    boolean wantsNewerToken(Answered answered);
  }

  /// @param deadline of one request, from connecting to the end of the answer
  public OAuthProbe(
      String provider,
      Class<C> kind,
      AccessTokens<C> tokens,
      LiveRequest requests,
      Duration deadline,
      Question<C> question) {
    this.provider = provider;
    this.kind = kind;
    this.tokens = tokens;
    this.requests = requests;
    this.deadline = deadline;
    this.question = question;
  }

  @Override
  public String provider() {
    return provider;
  }

  @Override
  public Verdict ask(Credential credential, String environment) {
    if (!kind.isInstance(credential)) {
      return new Verdict.Refused("not a credential of " + provider);
    }
    C mine = kind.cast(credential);
    return switch (tokens.current(mine)) {
      case Grant.Refused refused -> noAccess(refused);
      case Grant.Unavailable(String why) -> new Verdict.Unreachable(why);
      case Grant.Granted granted -> ask(mine, granted);
    };
  }

  private Verdict ask(C credential, Grant.Granted granted) {
    URI to = question.to(credential);
    try {
      Answered answered = ask(to, granted);
      return question.wantsNewerToken(answered)
          ? askAgain(to, credential, granted)
          : question.verdict(answered);
    } catch (IOException e) {
      return new Verdict.Unreachable(to.getHost() + ": " + e.getMessage());
    }
  }

  /// The access token may have been revoked; another one tells.
  private Verdict askAgain(URI to, C credential, Grant.Granted refused) throws IOException {
    return switch (tokens.renewed(credential, refused)) {
      case Grant.Refused again -> noAccess(again);
      case Grant.Unavailable(String why) -> new Verdict.Unreachable(why);
      case Grant.Granted newer -> question.verdict(ask(to, newer));
    };
  }

  private Answered ask(URI to, Grant.Granted granted) throws IOException {
    return requests.post(
        to,
        Map.of("content-type", "application/json", "authorization", "Bearer " + granted.token()),
        question.body().getBytes(StandardCharsets.UTF_8),
        deadline);
  }

  private static Verdict noAccess(Grant.Refused refused) {
    return new Verdict.Refused(refused.status() + " " + refused.reason() + " (access token)");
  }
}
