package io.pushplanet.dashboard.login;

import io.pushplanet.common.settings.DatabaseAway;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.web.filter.OncePerRequestFilter;

/// Ends the session of an operator who was deleted, whose role or whose password was changed, or
/// who has not used it for the session's timeout. A page that refreshes itself asks again and again
/// without anybody there, so only a viewer, who can change nothing, stays logged in by that: on a
/// screen on the wall. One SELECT by primary key for each page.
final class SessionStillValid extends OncePerRequestFilter {
  private static final String LAST_USE = "last-use";

  private final OperatorMapper operators;
  private final Clock clock;

  SessionStillValid(OperatorMapper operators, Clock clock) {
    this.operators = operators;
    this.clock = clock;
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
        HttpSession session = request.getSession(false);
        if (!present.equals(Optional.of(signedIn)) || isOver(session, request, signedIn)) {
          SecurityContextHolder.clearContext();
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

  /// Also notes this use. The servlet container would count the refreshes, too.
  private boolean isOver(
      @Nullable HttpSession session, HttpServletRequest request, SignedIn signedIn) {
    if (session == null) {
      return false;
    }
    Instant now = clock.instant();
    Instant lastUse = session.getAttribute(LAST_USE) instanceof Instant before ? before : now;
    boolean used = request.getHeader("HX-Request") == null || signedIn.role() == Role.VIEWER;
    session.setAttribute(LAST_USE, used ? now : lastUse);
    int timeoutSeconds = session.getMaxInactiveInterval();
    return timeoutSeconds > 0 && !now.isBefore(lastUse.plusSeconds(timeoutSeconds));
  }
}
