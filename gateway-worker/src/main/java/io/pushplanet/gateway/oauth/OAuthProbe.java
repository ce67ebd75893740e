package io.pushplanet.gateway.oauth;

import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.CredentialProbe;

/// Tries a credential that is exchanged for access tokens: whether it gets one, and whether that one is taken. Thread-safe.
public final class OAuthProbe<C extends Credential> implements CredentialProbe {
  private final String provider;
  private final Class<C> kind;
  private final AccessTokens<C> tokens;
  private final Question<C> question;

  /// Asks the vendor about an access token.
  public interface Question<C> {
    /// @return refused with a reason that begins with the status
    Verdict ask(C credential, Grant.Granted granted);
  }

  public OAuthProbe(String provider, Class<C> kind, AccessTokens<C> tokens, Question<C> question) {
    this.provider = provider;
    this.kind = kind;
    this.tokens = tokens;
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
      case Grant.Granted granted -> {
        Verdict first = question.ask(mine, granted);
        yield first instanceof Verdict.Refused(String reason) && reason.startsWith("401")
            ? askAgain(mine, granted)
            : first;
      }
    };
  }

  /// The access token may have been taken back; another one tells.
  private Verdict askAgain(C credential, Grant.Granted refused) {
    return switch (tokens.renewed(credential, refused)) {
      case Grant.Refused again -> noAccess(again);
      case Grant.Unavailable(String why) -> new Verdict.Unreachable(why);
      case Grant.Granted granted -> question.ask(credential, granted);
    };
  }

  private static Verdict noAccess(Grant.Refused refused) {
    return new Verdict.Refused(refused.status() + " " + refused.reason() + " (access token)");
  }
}
