package io.pushplanet.dashboard.page;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Set;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.RequestMapping;

/// Shows the page of a status: always a page, whatever the client accepts, and never the exception.
@Controller
final class ErrorPages implements ErrorController {
  private static final Set<Integer> OWN_PAGE = Set.of(400, 403, 404, 405, 411, 413, 429, 500, 503);

  @RequestMapping("/error")
  String page(HttpServletRequest request) {
    int status =
        request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer code
            ? code
            : 404;
    if (OWN_PAGE.contains(status)) {
      return "error/" + status;
    }
    return status < 500 ? "error/400" : "error/500";
  }
}
