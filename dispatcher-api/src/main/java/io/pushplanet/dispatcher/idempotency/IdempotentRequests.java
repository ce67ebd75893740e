package io.pushplanet.dispatcher.idempotency;

import io.lettuce.core.ScriptOutputType;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.access.Sha256;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.Enumeration;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;

/// Gives one answer for one Idempotency-Key of an app for 24 hours. The reservation keeps the
/// message id: a request that is repeated after a crash or a 503 sends under the same id, so that a
/// duplicate does no harm. Thread-safe.
@Component
public class IdempotentRequests {
  private static final Logger LOG = LoggerFactory.getLogger(IdempotentRequests.class);
  private static final Pattern FORM = Pattern.compile("[\\x21-\\x7e]{1,255}");
  private static final Duration KEPT = Duration.ofHours(24);

  /// Longer than most requests live, and after a crash a repeat is refused for so long. A batch that
  /// has to wait for memory or for the broker again and again may take longer: then its repeat runs
  /// beside it, and sends under the same ids.
  private static final Duration IN_PROGRESS = Duration.ofSeconds(30);

  /// KEYS[1] the key; ARGV new value, kept for ms. Returns the value of another request, or ''. A
  /// command whose answer was lost is sent again: here and in [#EXCHANGE] it then finds its own
  /// value.
  private static final String RESERVE =
      """
      local held = redis.call('GET', KEYS[1])
      if held and held ~= ARGV[1] then return held end
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
      return ''
      """;

  /// KEYS[1] the key; ARGV expected value, new value, kept for ms.
  private static final String EXCHANGE =
      """
      local held = redis.call('GET', KEYS[1])
      if held ~= ARGV[1] and held ~= ARGV[2] then return 0 end
      redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
      return 1
      """;

  private final RedisLink redis;
  private final MessageIds ids;
  private final Clock clock;
  private final io.micrometer.core.instrument.Counter replays;

  IdempotentRequests(RedisLink redis, MessageIds ids, Clock clock, MeterRegistry meters) {
    this.redis = redis;
    this.ids = ids;
    this.clock = clock;
    this.replays = meters.counter("pushplanet.idempotency.replays");
  }

  /// @param replayed whether the answer was given before
  public record Given(Answer answer, boolean replayed) {
    /// Writes the answer by hand, because this is the hot path: for a `ResponseEntity` Spring would
    /// negotiate a content type that is fixed here.
    public void writeTo(HttpServletResponse response) throws IOException {
      byte[] body = utf8(answer.body());
      response.setStatus(answer.status());
      response.setContentType(MediaType.APPLICATION_JSON_VALUE);
      if (answer.location() != null) {
        response.setHeader("Location", answer.location());
      }
      if (replayed) {
        response.setHeader("Idempotency-Replayed", "true");
      }
      response.setContentLength(body.length);
      response.getOutputStream().write(body);
    }
  }

  /// Runs `work`, unless a request with the same Idempotency-Key was answered before: then gives
  /// that answer again.
  ///
  /// @param operation keeps the keys of different endpoints apart
  /// @throws ProblemException 409 while the first request runs, 422 when the request has several
  ///     keys, or one that was used with another body, 503 when Redis is away
  public Given once(
      AppId app,
      String operation,
      HttpServletRequest request,
      byte[] body,
      Function<MessageId, Answer> work) {
    String key = key(request);
    return key == null
        ? new Given(work.apply(ids.next()), false)
        : once(app, operation, key, body, work);
  }

  /// The Idempotency-Key of the request, or null. With several keys it is unknown which one was
  /// meant.
  private static @Nullable String key(HttpServletRequest request) {
    Enumeration<String> keys = request.getHeaders("Idempotency-Key");
    String key = keys.hasMoreElements() ? keys.nextElement() : null;
    if (keys.hasMoreElements()) {
      refuse("ambiguous", "give one Idempotency-Key");
    }
    return key;
  }

  private Given once(
      AppId app, String operation, String key, byte[] body, Function<MessageId, Answer> work) {
    requireForm(key);
    String name = "idempotency:" + app + ":" + operation + ":" + hash(utf8(key));
    Reservation mine =
        new Reservation(hash(body), clock.instant().plus(IN_PROGRESS), ids.next(), null);
    String held = reserve(name, write(mine));
    if (!held.isEmpty()) {
      Reservation before = WireForm.read(utf8(held), Reservation.class);
      if (!before.bodyHash().equals(mine.bodyHash()) && !before.isFree()) {
        throw ProblemException.of(
            ProblemCode.IDEMPOTENCY_KEY_REUSED,
            "This Idempotency-Key was used with another body. Use a new key for a new request.");
      }
      Answer answer = before.answer();
      if (answer != null) {
        replays.increment();
        return new Given(answer, true);
      }
      if (before.until().isAfter(clock.instant())) {
        throw inProgress();
      }
      if (before.bodyHash().equals(mine.bodyHash())) {
        mine = new Reservation(mine.bodyHash(), mine.until(), before.seed(), null);
      }
      if (!exchange(name, held, write(mine))) {
        throw inProgress();
      }
    }
    return new Given(run(name, mine, work), false);
  }

  private Answer run(String name, Reservation mine, Function<MessageId, Answer> work) {
    Answer answer;
    try {
      answer = work.apply(mine.seed());
    } catch (RuntimeException e) {
      settle(name, mine, mine.freed());
      throw e;
    }
    settle(name, mine, mine.answered(answer));
    return answer;
  }

  /// When Redis has gone away meanwhile, a repeat finds the reservation in progress, and later
  /// expired; then it sends under the same id.
  private void settle(String name, Reservation before, Reservation after) {
    try {
      if (!exchange(name, write(before), write(after))) {
        LOG.warn("event=idempotency_lost");
      }
    } catch (DirectoryUnavailable e) {
      LOG.warn("event=idempotency_not_settled reason=\"{}\"", e.getMessage());
    }
  }

  private String reserve(String name, String value) {
    return redis.ask(commands ->
        commands.<String>eval(
            RESERVE,
            ScriptOutputType.VALUE,
            new String[] {name},
            value,
            Long.toString(KEPT.toMillis())));
  }

  private boolean exchange(String name, String expected, String value) {
    Long done =
        redis.ask(commands ->
            commands.<Long>eval(
                EXCHANGE,
                ScriptOutputType.INTEGER,
                new String[] {name},
                expected,
                value,
                Long.toString(KEPT.toMillis())));
    return done == 1;
  }

  private static ProblemException inProgress() {
    return ProblemException.retryable(
        ProblemCode.REQUEST_IN_PROGRESS,
        "A request with this Idempotency-Key is in progress. Ask again.",
        Duration.ofSeconds(1),
        null);
  }

  private static void requireForm(String key) {
    if (!FORM.matcher(key).matches()) {
      refuse("not_a_key", "Idempotency-Key has 1 to 255 visible ASCII characters");
    }
  }

  private static void refuse(String code, String detail) {
    Findings findings = new Findings();
    findings.add("Idempotency-Key", code, detail);
    findings.refuse();
  }

  private static String write(Reservation reservation) {
    return new String(WireForm.write(reservation), StandardCharsets.UTF_8);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String hash(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(bytes));
  }
}
