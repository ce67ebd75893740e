package io.pushplanet.dashboard.page;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/// Refuses a request body by its declared length, before it is read. The rest of the body is then
/// read and thrown away, because a browser shows the answer only when it has sent everything. This
/// has a limit and a deadline, too.
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UploadLimit extends OncePerRequestFilter {
  /// A credential file of 1 MB, and the form around it.
  static final long MAX_BYTES = 1_100_000;

  private static final long MAX_THROWN_AWAY_BYTES = 100_000_000;
  private static final Duration LONGEST_THROWING_AWAY = Duration.ofSeconds(60);

  private final Clock clock;

  UploadLimit(Clock clock) {
    this.clock = clock;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    long length = request.getContentLengthLong();
    if (length > MAX_BYTES) {
      throwAway(request, length);
      response.setHeader("Connection", "close");
      response.sendError(HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE);
      return;
    }
    if (length < 0 && request.getHeader("Transfer-Encoding") != null) {
      response.setHeader("Connection", "close");
      response.sendError(HttpServletResponse.SC_LENGTH_REQUIRED);
      return;
    }
    chain.doFilter(request, response);
  }

  private void throwAway(HttpServletRequest request, long length) throws IOException {
    boolean waitsForOurConsent = request.getHeader("Expect") != null;
    if (waitsForOurConsent || length > MAX_THROWN_AWAY_BYTES) {
      return;
    }
    Instant deadline = clock.instant().plus(LONGEST_THROWING_AWAY);
    byte[] buffer = new byte[16_384];
    InputStream body = request.getInputStream();
    while (body.read(buffer) >= 0 && clock.instant().isBefore(deadline)) {
      // thrown away
    }
  }
}
