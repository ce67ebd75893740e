package io.pushplanet.dispatcher.problem;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/// Answers requests that fail before or outside the controllers (in a filter, or in Tomcat).
@RestController
final class ProblemErrorController implements ErrorController {
  private final Duration stillness;

  /// @param stillness how long a body that has begun may pause
  ProblemErrorController(@Value("${server.tomcat.connection-timeout}") Duration stillness) {
    this.stillness = stillness;
  }

  @RequestMapping("${server.error.path:/error}")
  ResponseEntity<byte[]> error(HttpServletRequest request, HttpServletResponse response) {
    int status =
        request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer given
            ? given
            : 404;
    ProblemException problem =
        status == 408 ? ProblemException.tooSlow(stillness) : ProblemException.ofStatus(status);
    String id = RequestId.of(request);
    // No filter has seen a request that Tomcat refuses by itself.
    response.setHeader(RequestId.HEADER, id);
    return ResponseEntity.status(problem.code().status())
        .headers(headers -> problem.headers().forEach(headers::set))
        .contentType(MediaType.APPLICATION_PROBLEM_JSON)
        .body(problem.problem(id).json());
  }
}
