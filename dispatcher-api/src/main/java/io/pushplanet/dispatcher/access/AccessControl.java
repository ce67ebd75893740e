package io.pushplanet.dispatcher.access;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.access.Scope;
import io.pushplanet.common.message.AppId;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// Decides by the `Authorization` header whether a caller may use an operation. An app that does
/// not exist and an app of another owner get the same answer.
@Component
public final class AccessControl {
  private static final String BEARER = "Bearer ";

  private final KeyCache keys;

  AccessControl(KeyCache keys) {
    this.keys = keys;
  }

  /// @throws ProblemException 401, 403 or 404
  public Caller authorize(@Nullable String authorization, String app, Scope scope) {
    ApiKey key = present(authorization);
    StoredKey stored =
        keys.find(key.id())
            .filter(candidate -> key.matches(candidate.hash()))
            .filter(candidate -> !candidate.isRevoked())
            .orElseThrow(AccessControl::invalid);
    if (!stored.appId().equals(app)) {
      throw ProblemException.of(
          ProblemCode.APP_NOT_FOUND, "This key belongs to no app of that name. Check the path.");
    }
    if (!stored.may(scope)) {
      throw ProblemException.of(
              ProblemCode.SCOPE_MISSING,
              "This needs a key with the scope \"" + scope.word() + "\".")
          .withHeader(
              "WWW-Authenticate",
              "Bearer realm=\"pushplanet\", error=\"insufficient_scope\", scope=\""
                  + scope.word()
                  + "\"");
    }
    return new Caller(new AppId(app), stored.id(), stored.may(Scope.READ));
  }

  private static ApiKey present(@Nullable String authorization) {
    if (authorization == null || authorization.isBlank()) {
      throw missing("Send Authorization: Bearer <api key>.");
    }
    String credentials = authorization.strip();
    if (credentials.equalsIgnoreCase(BEARER.strip())) {
      throw missing("There is no key after Bearer: send Authorization: Bearer <api key>.");
    }
    if (!credentials.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      throw missing("Authorization does not begin with Bearer: send Bearer <api key>.");
    }
    return ApiKey.parse(credentials.substring(BEARER.length()).strip())
        .orElseThrow(AccessControl::invalid);
  }

  private static ProblemException missing(String detail) {
    return ProblemException.of(ProblemCode.API_KEY_MISSING, detail)
        .withHeader("WWW-Authenticate", "Bearer realm=\"pushplanet\"");
  }

  private static ProblemException invalid() {
    return ProblemException.of(
            ProblemCode.API_KEY_INVALID,
            "The API key is unknown or revoked. Make a new one in the dashboard.")
        .withHeader("WWW-Authenticate", "Bearer realm=\"pushplanet\", error=\"invalid_token\"");
  }
}
