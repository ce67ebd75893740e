package io.pushplanet.dashboard.page;

import io.pushplanet.common.settings.DatabaseAway;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.multipart.MaxUploadSizeExceededException;

/// Turns exceptions into the pages under `templates/error`.
@ControllerAdvice
final class FailurePages {
  private static final Logger LOG = LoggerFactory.getLogger(FailurePages.class);

  @ExceptionHandler({DataAccessException.class, TransactionException.class})
  void database(RuntimeException failure, HttpServletResponse response) throws IOException {
    if (DatabaseAway.isCauseOf(failure)) {
      LOG.warn("event=database_away reason=\"{}\"", rootOf(failure).toString());
      response.setHeader("Retry-After", "5");
      response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
      return;
    }
    throw failure;
  }

  @ExceptionHandler(MaxUploadSizeExceededException.class)
  void tooLarge(HttpServletResponse response) throws IOException {
    response.sendError(HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE);
  }

  private static Throwable rootOf(Throwable failure) {
    Throwable root = failure;
    for (Throwable cause = root.getCause(); cause != null; cause = cause.getCause()) {
      root = cause;
    }
    return root;
  }
}
