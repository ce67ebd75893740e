package io.pushplanet.dispatcher.push;

import io.pushplanet.common.access.Scope;
import io.pushplanet.common.message.AppId;
import io.pushplanet.dispatcher.access.AccessControl;
import io.pushplanet.dispatcher.access.Caller;
import io.pushplanet.dispatcher.problem.ProblemAdvice;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.HandlerMapping;

/// Handles the two operations that senders call all the time without Spring MVC, which needs longer
/// to find the controller method than the method needs to run. A request whose path is written in
/// an unusual way goes through Spring MVC and gets the same result. Thread-safe.
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 2)
final class SendFilter extends HttpFilter {
  private static final String APPS = "/v1/apps/";

  private final transient AccessControl access;
  private final transient PushController controller;
  private final transient ProblemAdvice problems;

  SendFilter(AccessControl access, PushController controller, ProblemAdvice problems) {
    this.access = access;
    this.controller = controller;
    this.problems = problems;
  }

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    String path = request.getRequestURI();
    int end = path.indexOf('/', APPS.length());
    String app =
        end > 0 && path.startsWith(APPS) && request.getMethod().equals("POST")
            ? path.substring(APPS.length(), end)
            : "";
    String operation = end > 0 ? path.substring(end) : "";
    boolean batch = operation.equals("/messages:batch");
    if (!AppId.isValid(app) || !(batch || operation.equals("/messages"))) {
      chain.doFilter(request, response);
      return;
    }
    request.setAttribute(
        HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE, APPS + "{app}" + operation);
    try {
      Caller caller = access.authorize(request.getHeader("Authorization"), app, Scope.SEND);
      if (batch) {
        controller.sendBatch(caller, request, response);
      } else {
        controller.send(caller, request, response);
      }
    } catch (IOException | RuntimeException e) {
      problems.tell(e, request, response);
    }
  }
}
