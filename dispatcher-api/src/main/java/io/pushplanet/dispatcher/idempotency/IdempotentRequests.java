package io.pushplanet.dispatcher.idempotency;

import io.lettuce.core.ScriptOutputType;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.access.Sha256;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Enumeration;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;

/// Gives one answer for one Idempotency-Key of an app for `dispatcher.idempotency-kept`. The
/// reservation keeps the message id: a request that is repeated after a crash or a 503 sends under
/// the same id, so that a duplicate does no harm. Thread-safe.
@Component
public class IdempotentRequests {
  private static final Logger LOG = LoggerFactory.getLogger(IdempotentRequests.class);
  private static final Pattern FORM = Pattern.compile("[\\x21-\\x7e]{1,255}");

  /// How long a request holds its key without a sign that it is worked on. After a crash a repeat
  /// is refused for so long.
  private static final Duration HELD = Duration.ofSeconds(30);

  /// A request that has held its key for so long holds it anew with its next sign. Most requests
  /// are over by then. What is left of [#HELD] is for the step until that sign, because each of the
  /// servers that a step asks may take seconds to answer.
  private static final Duration HELD_ANEW_AFTER = Duration.ofSeconds(5);

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
  private final Duration kept;
  private final Clock clock;
  private final io.micrometer.core.instrument.Counter replays;

  @Autowired
  IdempotentRequests(
      RedisLink redis,
      MessageIds ids,
      DispatcherSettings settings,
      Clock clock,
      MeterRegistry meters) {
    this(redis, ids, settings.idempotencyKept(), clock, meters);
  }

  IdempotentRequests(
      RedisLink redis, MessageIds ids, Duration kept, Clock clock, MeterRegistry meters) {
    this.redis = redis;
    this.ids = ids;
    this.kept = kept;
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
  /// that answer again. The key is held as long as the work gives signs of it ([Work#goesOn]).
  ///
  /// @param operation keeps the keys of different endpoints apart
  /// @throws ProblemException 409 while the first request runs, 422 when the request has several
  ///     keys, or one that was used with another body, 503 when Redis is away
  public Given once(
      AppId app,
      String operation,
      HttpServletRequest request,
      byte[] body,
      Function<Work, Answer> work) {
    String key = key(request);
    return key == null
        ? new Given(work.apply(new WithoutKey(ids.next())), false)
        : once(app, operation, key, body, work);
  }

  /// The answer that [#once] would give again, without reserving the key for a request that has
  /// none. Nothing while Redis is away.
  ///
  /// @throws ProblemException 422 when the request has several keys, or one that is malformed
  public Optional<Given> before(
      AppId app, String operation, HttpServletRequest request, byte[] body) {
    String key = key(request);
    if (key == null) {
      return Optional.empty();
    }
    requireForm(key);
    return held(name(app, operation, key))
        .filter(reservation -> reservation.bodyHash().equals(hash(body)))
        .map(Reservation::answer)
        .map(answer -> {
          replays.increment();
          return new Given(answer, true);
        });
  }

  private Optional<Reservation> held(String name) {
    try {
      String text = redis.ask(commands -> commands.get(name));
      return text == null
          ? Optional.empty()
          : Optional.of(WireForm.read(utf8(text), Reservation.class));
    } catch (RedisUnavailable e) {
      return Optional.empty();
    }
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
      AppId app, String operation, String key, byte[] body, Function<Work, Answer> work) {
    requireForm(key);
    String name = name(app, operation, key);
    Instant now = clock.instant();
    Reservation mine = new Reservation(hash(body), now.plus(HELD), ids.next(), null);
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
      if (before.until().isAfter(now)) {
        throw inProgress();
      }
      if (before.bodyHash().equals(mine.bodyHash())) {
        mine = new Reservation(mine.bodyHash(), mine.until(), before.seed(), null);
      }
      if (!exchange(name, held, write(mine))) {
        throw inProgress();
      }
    }
    return new Given(run(new Holder(name, mine, now), work), false);
  }

  private static Answer run(Holder holder, Function<Work, Answer> work) {
    Answer answer;
    try {
      answer = work.apply(holder);
    } catch (RuntimeException e) {
      holder.exchangeFor(holder.held.freed());
      throw e;
    }
    holder.exchangeFor(holder.held.answered(answer));
    return answer;
  }

  private record WithoutKey(MessageId id) implements Work {
    @Override
    public void goesOn() {
      // No other request waits for its end.
    }
  }

  /// A request that holds its key. Confined to the thread of the request.
  private final class Holder implements Work {
    private final String name;
    private Reservation held;

    /// What Redis may have instead: its answer to that change was lost.
    private @Nullable Reservation perhaps;

    private Instant anewAt;

    Holder(String name, Reservation held, Instant since) {
      this.name = name;
      this.held = held;
      this.anewAt = since.plus(HELD_ANEW_AFTER);
    }

    @Override
    public MessageId id() {
      return held.seed();
    }

    @Override
    public void goesOn() {
      Instant now = clock.instant();
      if (now.isBefore(anewAt)) {
        return;
      }
      anewAt = now.plus(HELD_ANEW_AFTER);
      exchangeFor(held.until(now.plus(HELD)));
    }

    /// When Redis has gone away meanwhile, a repeat finds the reservation in progress, and later
    /// expired; then it sends under the same id.
    void exchangeFor(Reservation next) {
      try {
        String value = write(next);
        if (exchange(name, write(held), value)
            || (perhaps != null && exchange(name, write(perhaps), value))) {
          held = next;
          perhaps = null;
        } else {
          LOG.warn("event=idempotency_lost");
        }
      } catch (RedisUnavailable e) {
        perhaps = next;
        LOG.warn("event=idempotency_not_settled reason=\"{}\"", e.getMessage());
      }
    }
  }

  private String reserve(String name, String value) {
    return redis.ask(commands ->
        commands.<String>eval(
            RESERVE,
            ScriptOutputType.VALUE,
            new String[] {name},
            value,
            Long.toString(kept.toMillis())));
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
                Long.toString(kept.toMillis())));
    return done == 1;
  }

  private static ProblemException inProgress() {
    return ProblemException.retryable(
        ProblemCode.REQUEST_IN_PROGRESS,
        "A request with this Idempotency-Key is in progress. Ask again.",
        Duration.ofSeconds(1),
        null);
  }

  private static String name(AppId app, String operation, String key) {
    return "idempotency:" + app + ":" + operation + ":" + hash(utf8(key));
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
