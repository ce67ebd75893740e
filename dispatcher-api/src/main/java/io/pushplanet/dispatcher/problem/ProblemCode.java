package io.pushplanet.dispatcher.problem;

import java.util.Locale;

/// Every kind of refusal. The name in lower case is the stable `code` that programs compare.
/// `docs/problem-codes.md` and the page at `/docs/problems` are made from these constants.
public enum ProblemCode {
  MALFORMED_REQUEST(
      400, "The request cannot be read", "Correct the URL, the query or the headers."),
  MALFORMED_JSON(
      400,
      "The body is not one JSON object",
      "Send one JSON object in UTF-8; the detail says where it breaks."),
  API_KEY_MISSING(401, "An API key is needed", "Send the header Authorization: Bearer KEY."),
  API_KEY_INVALID(
      401,
      "The API key is not valid",
      "Use a key of this app that is not revoked; make one in the dashboard."),
  SCOPE_MISSING(
      403, "The API key may not do this", "Use a key with the scope that the detail names."),
  NOT_FOUND(404, "There is nothing here", "Correct the path; /docs lists all paths."),
  APP_NOT_FOUND(
      404,
      "There is no such app for this key",
      "Correct the app in the path, or use that app's key."),
  DEVICE_NOT_FOUND(
      404, "There is no such device", "Register the device, or forget it if it has been deleted."),
  MESSAGE_NOT_FOUND(
      404,
      "There is no such message",
      "Correct the id. The server deletes messages after the retention time."),
  MESSAGE_NOT_KNOWN_YET(
      404,
      "This message is not known, or not yet",
      "If you got this id in a 202, ask again after Retry-After, and do not send the message again. Otherwise correct the id."),
  CHANNEL_NOT_FOUND(
      404,
      "There is no such Live Activity channel",
      "Correct the id, or make a channel with POST /v1/apps/{app}/live-activity-channels."),
  METHOD_NOT_ALLOWED(
      405, "This method is not allowed here", "Use one of the methods in the header Allow."),
  BODY_TOO_SLOW(
      408,
      "The body came too slowly",
      "Send the whole body at once; the detail says how long it may take."),
  REQUEST_IN_PROGRESS(
      409,
      "The same request is in progress",
      "Send it again after Retry-After to get the answer of the first request."),
  CHANNEL_NOT_READY(
      409,
      "Apple does not have this Live Activity channel (yet)",
      "Read the channel until its state is ready; if the state is failed, the reason says why."),
  TOO_MANY_CHANNELS(
      409,
      "Apple takes no more Live Activity channels of this app",
      "Delete channels whose event is over."),
  BODY_TOO_LARGE(
      413, "The body is too large", "Send less at once; the detail says how much is allowed."),
  PAYLOAD_TOO_LARGE(
      413,
      "The message is too large for a provider",
      "Shorten content or overrides by the number of bytes that the errors name."),
  UNSUPPORTED_MEDIA_TYPE(
      415,
      "The body must be JSON",
      "Send Content-Type: application/json, and no Content-Encoding."),
  INVALID_REQUEST(
      422,
      "The request is not valid",
      "Correct every field that the errors point at. Sending it again unchanged gives the same answer."),
  AUDIENCE_NOT_SUPPORTED(
      422, "This audience is not supported", "Use one of the audiences that the detail names."),
  IDEMPOTENCY_KEY_REUSED(
      422,
      "The Idempotency-Key was used with another body",
      "Use a new key for a new request, and the same body for a repeat."),
  RATE_LIMITED(
      429, "Too many messages", "Send it again after Retry-After; RateLimit says what is left."),
  INTERNAL_ERROR(
      500,
      "Something broke here",
      "Give the request id to the operator, who finds it in the log. Repeat with an Idempotency-Key."),
  OVERLOADED(
      503,
      "Too many costly requests at once",
      "Send it again after Retry-After with the same Idempotency-Key, or send fewer at once."),
  UNAVAILABLE(
      503,
      "This server takes no requests just now",
      "Send it again after Retry-After with the same Idempotency-Key."),
  BROKER_UNAVAILABLE(
      503,
      "The message broker is away",
      "Send it again after Retry-After with the same Idempotency-Key: the first may still arrive."),
  DATABASE_UNAVAILABLE(503, "The database is away", "Send it again after Retry-After."),
  REDIS_UNAVAILABLE(503, "Redis is away", "Send it again after Retry-After.");

  private final int status;
  private final String title;
  private final String remedy;

  ProblemCode(int status, String title, String remedy) {
    this.status = status;
    this.title = title;
    this.remedy = remedy;
  }

  /// The code for a request that Tomcat or Spring refuses by itself, by the status that they give
  /// it.
  static ProblemCode ofStatus(int status) {
    return switch (status) {
      case 404 -> NOT_FOUND;
      case 405 -> METHOD_NOT_ALLOWED;
      case 408 -> BODY_TOO_SLOW;
      case 413 -> BODY_TOO_LARGE;
      case 415 -> UNSUPPORTED_MEDIA_TYPE;
      // A transfer coding or a version of HTTP that Tomcat does not know.
      case 501, 505 -> MALFORMED_REQUEST;
      // Tomcat is about to stop.
      case 503 -> UNAVAILABLE;
      default -> status < 500 ? MALFORMED_REQUEST : INTERNAL_ERROR;
    };
  }

  public int status() {
    return status;
  }

  public String title() {
    return title;
  }

  /// The caller's remedy.
  public String remedy() {
    return remedy;
  }

  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// The address that explains the code: a reference that is resolved against the address of this
  /// API, with its full path as https://www.rfc-editor.org/rfc/rfc9457#section-3.1.1 recommends.
  String type() {
    return "/docs/problems#" + word();
  }
}
