package io.pushplanet.dashboard.page;

import java.io.Serial;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

/// The thing that the address names does not exist. The answer is the 404 page.
@ResponseStatus(HttpStatus.NOT_FOUND)
public final class Missing extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  public Missing(String what) {
    super(what);
  }
}
