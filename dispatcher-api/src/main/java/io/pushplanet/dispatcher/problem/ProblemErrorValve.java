package io.pushplanet.dispatcher.problem;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Locale;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.jspecify.annotations.Nullable;

/// Gives requests that Tomcat refuses before any servlet sees them (a broken request line, a bad
/// header) an answer in the same form. Tomcat creates the valve by its class name.
public final class ProblemErrorValve extends ErrorReportValve {
  @Override
  protected void report(Request request, Response response, @Nullable Throwable thrown) {
    int status = response.getStatus();
    if (status < 400 || response.getContentWritten() > 0 || !response.setErrorReported()) {
      return;
    }
    ProblemException problem =
        status == 400 ? unreadable(request) : ProblemException.ofStatus(status);
    String id = RequestId.of(request.getRequest());
    byte[] body = problem.problem(id).json();
    try {
      HttpServletResponse answer = response.getResponse();
      answer.setStatus(problem.code().status());
      problem.headers().forEach(answer::setHeader);
      answer.setHeader(RequestId.HEADER, id);
      answer.setContentType(Problem.MEDIA_TYPE);
      answer.getOutputStream().write(body);
      response.finishResponse();
    } catch (IOException | IllegalStateException e) {
      // The caller is gone, or another answer is on its way, so no answer can be sent.
      container.getLogger().debug("no problem told", e);
    }
  }

  /// Only Tomcat's own log says what was wrong, so the answer says what a request must be.
  private static ProblemException unreadable(Request request) {
    return ProblemException.of(
        ProblemCode.MALFORMED_REQUEST,
        String.format(
            Locale.ROOT,
            "The request cannot be read. Its path must be percent-encoded UTF-8, it needs a header Host, and its first line and headers have at most %s bytes in all.",
            request.getConnector().getProperty("maxHttpRequestHeaderSize")));
  }
}
