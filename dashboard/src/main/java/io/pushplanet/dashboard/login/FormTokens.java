package io.pushplanet.dashboard.login;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.security.web.csrf.CsrfTokenRepository;
import org.springframework.security.web.csrf.HttpSessionCsrfTokenRepository;

/// Keeps the tokens with which the tokens of forms are compared, so that no other site can send a
/// form. A session keeps the token. Before there is a session, a cookie keeps it for the login
/// form: otherwise each visitor of the login page would cost a session of eight hours. Once there
/// is a session, a cookie that another site planted has no effect. Thread-safe.
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
