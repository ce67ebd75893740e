package io.pushplanet.dispatcher.input;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/// Treats a semicolon in a path like any other character
/// (https://www.rfc-editor.org/rfc/rfc3986#section-3.3). Spring MVC removes it and the text behind
/// it as parameters of the segment, even when it is told to ignore such parameters: `PUT
/// .../tags/a;b` would add `a`.
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 3)
final class SemicolonFilter extends HttpFilter {
  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    boolean any = request.getRequestURI().indexOf(';') >= 0;
    chain.doFilter(any ? new Encoded(request) : request, response);
  }

  private static final class Encoded extends HttpServletRequestWrapper {
    Encoded(HttpServletRequest request) {
      super(request);
    }

    @Override
    public String getRequestURI() {
      return super.getRequestURI().replace(";", "%3B");
    }
  }
}
