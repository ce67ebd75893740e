package io.pushplanet.dispatcher.problem;

import java.util.Locale;

/// Every kind of refusal. The name in lower case is the stable `code` that programs branch on.
public enum ProblemCode {
  MALFORMED_REQUEST(400, "The request cannot be read"),
  MALFORMED_JSON(400, "The body is not JSON"),
  API_KEY_MISSING(401, "An API key is needed"),
  API_KEY_INVALID(401, "The API key is not valid"),
  SCOPE_MISSING(403, "The API key may not do this"),
  NOT_FOUND(404, "There is nothing here"),
  APP_NOT_FOUND(404, "There is no such app for this key"),
  DEVICE_NOT_FOUND(404, "There is no such device"),
  MESSAGE_NOT_FOUND(404, "There is no such message"),
  METHOD_NOT_ALLOWED(405, "This method is not allowed here"),
  NOT_ACCEPTABLE(406, "The answer is JSON only"),
  REQUEST_IN_PROGRESS(409, "The same request is in progress"),
  BODY_TOO_LARGE(413, "The body is too large"),
  PAYLOAD_TOO_LARGE(413, "The message is too large for a provider"),
  UNSUPPORTED_MEDIA_TYPE(415, "The body must be JSON"),
  INVALID_REQUEST(422, "The request is not valid"),
  AUDIENCE_NOT_SUPPORTED(422, "This audience is not supported"),
  IDEMPOTENCY_KEY_REUSED(422, "The Idempotency-Key was used with another body"),
  RATE_LIMITED(429, "Too many messages"),
  INTERNAL_ERROR(500, "Something broke here"),
  BROKER_UNAVAILABLE(503, "The message broker is away"),
  DATABASE_UNAVAILABLE(503, "The database is away"),
  REDIS_UNAVAILABLE(503, "Redis is away");

  private final int status;
  private final String title;

  ProblemCode(int status, String title) {
    this.status = status;
    this.title = title;
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
