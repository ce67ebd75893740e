package io.pushplanet.dispatcher.problem;

import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.settings.DatabaseAway;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.TreeSet;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.ErrorResponse;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/// The edge of the API. Every exception of a request becomes a problem document. Bugs and failures
/// of servers are logged here, once.
@RestControllerAdvice
public final class ProblemAdvice {
  private static final Logger LOG = LoggerFactory.getLogger(ProblemAdvice.class);
  private static final Duration SOON = Duration.ofSeconds(1);
  private static final Duration A_LITTLE_LATER = Duration.ofSeconds(2);

  @ExceptionHandler(Exception.class)
  public void tell(Exception thrown, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (thrown instanceof IOException && !(thrown instanceof java.io.FileNotFoundException)) {
      LOG.debug("event=caller_gone reason=\"{}\"", thrown.toString());
      return;
    }
    ProblemException problem = problemOf(thrown, request);
    byte[] body = problem.problem(RequestId.of(request)).json();
    response.setStatus(problem.code().status());
    problem.headers().forEach(response::setHeader);
    response.setContentType(Problem.MEDIA_TYPE);
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }

  private static ProblemException problemOf(Exception thrown, HttpServletRequest request) {
    return switch (thrown) {
      case ProblemException problem -> problem;
      case BrokerUnavailable away ->
          ProblemException.retryable(
              ProblemCode.BROKER_UNAVAILABLE,
              "Nothing was promised: " + away.getMessage() + ". Send it again.",
              SOON,
              away);
      case RedisUnavailable away ->
          ProblemException.retryable(
              ProblemCode.REDIS_UNAVAILABLE,
              "This needs Redis, which is away. Try again.",
              A_LITTLE_LATER,
              away);
      case HttpRequestMethodNotSupportedException wrong -> {
        String allowed = String.join(", ", allowed(wrong));
        yield ProblemException.of(
                ProblemCode.METHOD_NOT_ALLOWED,
                wrong.getMethod() + " is not allowed here; allowed: " + allowed + ".")
            .withHeader("Allow", allowed);
      }
      case HttpMediaTypeNotSupportedException wrong ->
          ProblemException.of(
              ProblemCode.UNSUPPORTED_MEDIA_TYPE, "Send Content-Type: application/json.");
      case InvalidParameterException wrong ->
          ProblemException.of(
              ProblemCode.MALFORMED_REQUEST,
              "The query cannot be read. It is UTF-8, percent-encoded, with few parameters.");
      case ErrorResponse known when known.getStatusCode().value() == 404 ->
          ProblemException.of(
              ProblemCode.NOT_FOUND,
              "There is nothing at "
                  + request.getMethod()
                  + " "
                  + request.getRequestURI()
                  + ". See /docs, or /openapi.json for programs.");
      case ErrorResponse known when known.getStatusCode().is4xxClientError() ->
          ProblemException.of(ProblemCode.MALFORMED_REQUEST, "The request cannot be read.");
      default -> infrastructure(thrown, request);
    };
  }

  private static ProblemException infrastructure(Exception thrown, HttpServletRequest request) {
    if (DatabaseAway.isCauseOf(thrown)) {
      LOG.warn(
          "event=database_unavailable path={} reason=\"{}\"",
          request.getRequestURI(),
          oneLine(thrown));
      return ProblemException.retryable(
          ProblemCode.DATABASE_UNAVAILABLE,
          "This needs the database, which is away or takes no changes just now. Try again.",
          A_LITTLE_LATER,
          thrown);
    }
    LOG.error("event=request_broke path={}", request.getRequestURI(), thrown);
    return ProblemException.of(
        ProblemCode.INTERNAL_ERROR, "Something broke here. Tell your operator the request id.");
  }

  private static String oneLine(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root.toString().lines().findFirst().orElse("");
  }

  /// Spring MVC serves HEAD wherever it serves GET, and does not name it.
  private static Set<String> allowed(HttpRequestMethodNotSupportedException wrong) {
    String[] methods = wrong.getSupportedMethods();
    Set<String> allowed = new TreeSet<>();
    if (methods != null) {
      Collections.addAll(allowed, methods);
    }
    if (allowed.contains("GET")) {
      allowed.add("HEAD");
    }
    return allowed;
  }
}
