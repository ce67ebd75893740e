package io.pushplanet.dispatcher.problem;

import java.io.Serial;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A request that cannot be served. It becomes an `application/problem+json` answer, and has no
/// stack trace, because it is not a bug.
public final class ProblemException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  private final transient ProblemCode code;
  private final transient List<FieldError> errors;
  private final transient Map<String, String> headers;

  private ProblemException(
      ProblemCode code,
      String detail,
      List<FieldError> errors,
      Map<String, String> headers,
      @Nullable Throwable cause) {
    super(detail, cause, false, false);
    this.code = code;
    this.errors = List.copyOf(errors);
    this.headers = Map.copyOf(headers);
  }

  public static ProblemException of(ProblemCode code, String detail) {
    return new ProblemException(code, detail, List.of(), Map.of(), null);
  }

  public static ProblemException of(ProblemCode code, String detail, List<FieldError> errors) {
    return new ProblemException(code, detail, errors, Map.of(), null);
  }

  /// @param after sent as `Retry-After`, in whole seconds, at least one
  public static ProblemException retryable(
      ProblemCode code, String detail, Duration after, @Nullable Throwable cause) {
    return new ProblemException(
        code, detail, List.of(), Map.of("Retry-After", Long.toString(wholeSeconds(after))), cause);
  }

  /// As `Retry-After` gives it: in whole seconds, at least one.
  public static long wholeSeconds(Duration after) {
    return Math.max(1, after.plusMillis(999).toSeconds());
  }

  /// For a request that Tomcat or Spring refuses by itself, by the status that they give it.
  static ProblemException ofStatus(int status) {
    ProblemCode code = ProblemCode.ofStatus(status);
    String detail = code.title() + ".";
    return code == ProblemCode.UNAVAILABLE
        ? retryable(code, detail, Duration.ofSeconds(1), null)
        : of(code, detail);
  }

  /// @param within how long the body, or its next part, may take
  public static ProblemException tooSlow(Duration within) {
    return of(
        ProblemCode.BODY_TOO_SLOW,
        "The body did not come within "
            + within.toMillis() / 1_000.0
            + " s. Send the whole body at once.");
  }

  public ProblemException withHeader(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return new ProblemException(code, detail(), errors, more, getCause());
  }

  /// The same problem with only its first errors.
  public ProblemException withErrors(int most) {
    return errors.size() <= most
        ? this
        : new ProblemException(code, detail(), errors.subList(0, most), headers, getCause());
  }

  public ProblemCode code() {
    return code;
  }

  public String detail() {
    String message = getMessage();
    return message == null ? code.title() : message;
  }

  public List<FieldError> errors() {
    return errors;
  }

  public Map<String, String> headers() {
    return headers;
  }

  /// The document of this problem, for answers that contain several.
  public Problem problem(String requestId) {
    return new Problem(code, detail(), requestId, errors);
  }
}
