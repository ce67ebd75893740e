package io.pushplanet.dispatcher.input;

import io.pushplanet.common.message.AppId;
import io.pushplanet.dispatcher.limit.AppBulkheads;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/// Reads the bodies of requests: at most [#MAX_BYTES] (or the given limit), so that a huge upload
/// is neither stored nor parsed, and within a time limit, which begins again when a body of unknown
/// length grows beyond [#MAX_BYTES]. All bodies that are not small share a part of the heap while
/// they come, and one app gets at most half of it. So even many slow uploads neither fill the heap
/// nor delay another app. Thread-safe.
@Component
public class Bodies {
  public static final int MAX_BYTES = 64 * 1024;

  /// The limit for messages, single ones or in a batch: a message may name 1,000 users of 128
  /// characters, and JSON may escape each character to six bytes.
  public static final int MAX_MESSAGE_BYTES = 1024 * 1024;

  /// The connection holds this much of each body anyway.
  private static final int SMALL = 8 * 1024;

  private static final int KILOBYTE = 1024;

  /// One 16th of the heap is for bodies that are coming.
  private static final int PART = 16;

  /// A request that waits holds nothing yet.
  private static final int TIMES_IN_LINE = 16;

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

  private final AppBulkheads uploads;
  private final Duration within;
  private final LongSupplier nanos;

  @Autowired
  Bodies(DispatcherSettings settings) {
    this(Runtime.getRuntime().maxMemory(), LONGEST_WAIT, settings.bodyWithin(), System::nanoTime);
  }

  Bodies(long heap, Duration longestWait, Duration within, LongSupplier nanos) {
    int kilobytes =
        Math.clamp(
            heap / PART / KILOBYTE,
            2 * MAX_MESSAGE_BYTES / KILOBYTE,
            Integer.MAX_VALUE / (2 * TIMES_IN_LINE));
    this.uploads =
        new AppBulkheads(
            kilobytes,
            TIMES_IN_LINE * kilobytes,
            longestWait,
            ProblemCode.OVERLOADED,
            "Too many large requests are coming just now. Send it again, or fewer at once.");
    this.within = within;
    this.nanos = nanos;
  }

  /// One JSON object of at most [#MAX_BYTES].
  ///
  /// @throws ProblemException 400, 408, 413, 415 or 503
  public JsonBody json(AppId app, HttpServletRequest request) throws IOException {
    return JsonBody.of(bytes(app, request, MAX_BYTES));
  }

  /// As [#json], but an empty body counts as `{}`.
  public JsonBody optionalJson(AppId app, HttpServletRequest request) throws IOException {
    byte[] bytes = read(app, request, MAX_BYTES);
    if (bytes.length > 0) {
      requireJson(request);
    }
    return bytes.length == 0 ? JsonBody.empty() : JsonBody.of(bytes);
  }

  /// The body's bytes as they came, for [JsonBody#of].
  ///
  /// @throws ProblemException 408, 413, 415 or 503
  public byte[] bytes(AppId app, HttpServletRequest request, int mostBytes) throws IOException {
    requireJson(request);
    return read(app, request, mostBytes);
  }

  private byte[] read(AppId app, HttpServletRequest request, int mostBytes) throws IOException {
    refuseIfLarge(request, mostBytes);
    return read(app, request.getInputStream(), request.getContentLength(), mostBytes);
  }

  /// @param length negative where it is not known
  byte[] read(AppId app, InputStream body, int length, int mostBytes) throws IOException {
    // The stream ends with the body. Asking for no more than its length saves a buffer of 16 KiB.
    byte[] bytes = part(app, body, length < 0 ? Math.min(MAX_BYTES, mostBytes) + 1 : length);
    if (length < 0 && bytes.length > MAX_BYTES && bytes.length <= mostBytes) {
      // A request without a Content-Length gets memory for a large body only when a large body
      // comes.
      bytes = joined(bytes, part(app, body, mostBytes + 1 - bytes.length));
    }
    if (bytes.length > mostBytes) {
      throw tooLarge(mostBytes);
    }
    return bytes;
  }

  private byte[] part(AppId app, InputStream body, int most) throws IOException {
    return most <= SMALL
        ? inTime(body, most)
        : uploads.call(app, 1 + most / KILOBYTE, () -> inTime(body, most));
  }

  private static byte[] joined(byte[] first, byte[] rest) {
    byte[] all = Arrays.copyOf(first, first.length + rest.length);
    System.arraycopy(rest, 0, all, first.length, rest.length);
    return all;
  }

  /// A body that stands still is ended by `server.tomcat.connection-timeout`, and Tomcat answers.
  ///
  /// @param most how many bytes of the stream are read at most
  private byte[] inTime(InputStream body, int most) throws IOException {
    byte[] bytes = new byte[most];
    int count = 0;
    long start = 0;
    while (count < most) {
      int read = body.read(bytes, count, most - count);
      if (read < 0) {
        return Arrays.copyOf(bytes, count);
      }
      boolean first = count == 0;
      count += read;
      // Nearly all bodies come complete with the first read, and need no clock.
      if (count < most && first) {
        start = nanos.getAsLong();
      } else if (count < most && nanos.getAsLong() - start > within.toNanos()) {
        throw ProblemException.tooSlow(within);
      }
    }
    return bytes;
  }

  private static void refuseIfLarge(HttpServletRequest request, int mostBytes) {
    if (request.getContentLengthLong() > mostBytes) {
      throw tooLarge(mostBytes);
    }
  }

  private static ProblemException tooLarge(int mostBytes) {
    return ProblemException.of(
        ProblemCode.BODY_TOO_LARGE,
        String.format(Locale.ROOT, "The body may have at most %,d bytes.", mostBytes));
  }

  private static void requireJson(HttpServletRequest request) {
    String type = request.getContentType();
    String bare = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (!bare.equals("application/json") && !bare.equals("application/merge-patch+json")) {
      throw ProblemException.of(
          ProblemCode.UNSUPPORTED_MEDIA_TYPE,
          "Send Content-Type: application/json"
              + (type == null ? "; there is none." : ", not " + bare + "."));
    }
    String coding = request.getHeader("Content-Encoding");
    if (coding != null && !coding.equalsIgnoreCase("identity")) {
      // https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3
      throw ProblemException.of(
              ProblemCode.UNSUPPORTED_MEDIA_TYPE,
              "Send the body as it is, without Content-Encoding: " + coding + ".")
          .withHeader("Accept-Encoding", "identity");
    }
  }
}
