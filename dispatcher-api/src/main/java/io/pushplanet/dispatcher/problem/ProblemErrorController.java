package io.pushplanet.dispatcher.problem;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/// What fails before or beside the controllers (a filter, the container) ends here.
@RestController
final class ProblemErrorController implements ErrorController {
  @RequestMapping("${server.error.path:/error}")
  ResponseEntity<byte[]> error(HttpServletRequest request) {
    int status =
        request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer given
            ? given
            : 404;
    ProblemException problem = ProblemException.ofStatus(status);
    return ResponseEntity.status(problem.code().status())
        .headers(headers -> problem.headers().forEach(headers::set))
        .contentType(MediaType.APPLICATION_PROBLEM_JSON)
        .body(problem.problem(RequestId.of(request)).json());
  }
}
