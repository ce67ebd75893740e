package io.pushplanet.dashboard.login;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.security.web.csrf.CsrfTokenRepository;
import org.springframework.security.web.csrf.HttpSessionCsrfTokenRepository;

/// What a form's token is compared with, so that no other site can send it. A session keeps it; for the login's form, before
/// there is one, a cookie does: else everybody who looks at the login would cost a session of eight hours. A cookie that
/// another site plants counts for nothing once there is a session. Thread-safe.
final class FormTokens implements CsrfTokenRepository {
  private final CsrfTokenRepository session = new HttpSessionCsrfTokenRepository();
  private final CookieCsrfTokenRepository cookie = new CookieCsrfTokenRepository();

  FormTokens() {
    cookie.setCookieName("pushplanet-login");
    cookie.setCookieCustomizer(made -> made.httpOnly(true).sameSite("Lax"));
  }

  @Override
  public CsrfToken generateToken(HttpServletRequest request) {
    return keeper(request).generateToken(request);
  }

  @Override
  public void saveToken(
      @Nullable CsrfToken token, HttpServletRequest request, HttpServletResponse response) {
    keeper(request).saveToken(token, request, response);
  }

  @Override
  public @Nullable CsrfToken loadToken(HttpServletRequest request) {
    return keeper(request).loadToken(request);
  }

  private CsrfTokenRepository keeper(HttpServletRequest request) {
    return request.getSession(false) == null ? cookie : session;
  }
}
