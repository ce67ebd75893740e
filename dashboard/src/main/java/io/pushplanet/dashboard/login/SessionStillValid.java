package io.pushplanet.dashboard.login;

import io.pushplanet.common.settings.DatabaseAway;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.util.Optional;
import org.springframework.dao.DataAccessException;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.web.filter.OncePerRequestFilter;

/// Ends the session of an operator who was deleted, whose role or whose password was changed. One
/// SELECT by primary key for each page.
final class SessionStillValid extends OncePerRequestFilter {
  private final OperatorMapper operators;

  SessionStillValid(OperatorMapper operators) {
    this.operators = operators;
  }

  @Override
  protected boolean shouldNotFilter(HttpServletRequest request) {
    String path = request.getServletPath();
    return path.startsWith("/assets/") || path.startsWith("/webjars/");
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    Authentication authentication = SecurityContextHolder.getContext().getAuthentication();
    if (authentication != null && authentication.getPrincipal() instanceof SignedIn signedIn) {
      try {
        Optional<SignedIn> present = operators.find(signedIn.name()).map(SignedIn::of);
        if (!present.equals(Optional.of(signedIn))) {
          SecurityContextHolder.clearContext();
          HttpSession session = request.getSession(false);
          if (session != null) {
            session.invalidate();
          }
        }
      } catch (DataAccessException e) {
        if (!DatabaseAway.isCauseOf(e)) {
          throw e;
        }
        response.setHeader("Retry-After", "5");
        response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
        return;
      }
    }
    chain.doFilter(request, response);
  }
}
