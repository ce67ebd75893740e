package io.pushplanet.dispatcher.problem;

import jakarta.servlet.ServletRequest;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The id that a request has in logs and answers: the caller's if it is well-formed, otherwise a
/// generated one.
public final class RequestId {
  static final String HEADER = "X-Request-Id";
  private static final String ATTRIBUTE = RequestId.class.getName();
  private static final Pattern SANE = Pattern.compile("[A-Za-z0-9._:/+=@-]{1,128}");

  private RequestId() {}

  public static String of(ServletRequest request) {
    if (request.getAttribute(ATTRIBUTE) instanceof String known) {
      return known;
    }
    return assign(request, null);
  }

  static String assign(ServletRequest request, @Nullable String offered) {
    String id =
        offered != null && SANE.matcher(offered).matches() ? offered : UUID.randomUUID().toString();
    request.setAttribute(ATTRIBUTE, id);
    return id;
  }
}
