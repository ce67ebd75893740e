package io.pushplanet.gateway.oauth;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.provider.ProviderMetrics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The access tokens of a vendor's credentials: fetched once, kept, renewed five minutes before
/// their end, and used until that end when the vendor does not answer. One thread fetches each
/// credential's token; the others use the present token, and wait only when there is none.
/// Thread-safe.
public final class AccessTokens<C extends Credential> {
  /// What was done when a provider wanted a newer access token, for timelines.
  public static final String RENEWED = "access token renewed; sent again";

  public static final String NOT_RENEWED = "access token not renewed";

  private static final Logger LOG = LoggerFactory.getLogger(AccessTokens.class);
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Duration RENEWED_EARLY = Duration.ofMinutes(5);

  /// How long a refusal or a failure stands, so that an endpoint in trouble is not asked for every
  /// message.
  private static final Duration REFUSAL_STANDS = Duration.ofSeconds(30);

  private static final Duration FAILURE_STANDS = Duration.ofSeconds(2);

  /// The assumed life when an endpoint names none, or nonsense: neither is it asked for every
  /// message, nor is a token used for days.
  private static final Duration USUAL_LIFE = Duration.ofHours(1);

  private static final Duration SHORTEST_LIFE = Duration.ofMinutes(1);
  private static final Duration LONGEST_LIFE = Duration.ofDays(1);

  private static final int MAX_CREDENTIALS = 10_000;

  /// One credential's token.
  private static final class Slot {
    final ReentrantLock asking = new ReentrantLock();
    volatile @Nullable Held held;
  }

  /// @param until when it is fetched again
  /// @param end when the vendor no longer accepts it
  private record Held(Grant grant, Instant until, Instant end) {
    boolean standsAt(Instant now) {
      return now.isBefore(until);
    }

    boolean isTokenAt(Instant now) {
      return grant instanceof Grant.Granted && now.isBefore(end);
    }
  }

  /// @param stands how long it is used before it is fetched again
  /// @param life how long the vendor accepts it
  private record Answer(Grant grant, Duration stands, Duration life) {
    Answer(Grant grant, Duration stands) {
      this(grant, stands, stands);
    }

    /// Of a short life, at most half is given away.
    static Answer granted(String token, Duration life) {
      Duration half = life.dividedBy(2);
      return new Answer(
          new Grant.Granted(token),
          life.minus(half.compareTo(RENEWED_EARLY) < 0 ? half : RENEWED_EARLY),
          life);
    }
  }

  private final BiFunction<C, Instant, TokenRequest> asking;
  private final Duration deadline;
  private final LiveRequest requests;
  private final Clock clock;
  private final Clock steady;
  private final ProviderMetrics metrics;
  private final Cache<String, Slot> slots =
      Caffeine.newBuilder().maximumSize(MAX_CREDENTIALS).build();

  /// @param asking builds the request for a credential's token at a time
  /// @param deadline from looking up the endpoint's name to the end of the answer
  /// @param clock gives the time that the vendor is told
  /// @param steady measures how long an answer stands
  public AccessTokens(
      BiFunction<C, Instant, TokenRequest> asking,
      LiveRequest requests,
      Duration deadline,
      Clock clock,
      Clock steady,
      ProviderMetrics metrics) {
    this.asking = asking;
    this.requests = requests;
    this.deadline = deadline;
    this.clock = clock;
    this.steady = steady;
    this.metrics = metrics;
  }

  /// The token to send with now.
  public Grant current(C credential) {
    return currentExcept(credential, null);
  }

  /// Another token than the one that the vendor refused; fetched once for all callers whose
  /// requests it refused.
  public Grant renewed(C credential, Grant.Granted refused) {
    return currentExcept(credential, refused);
  }

  private Grant currentExcept(C credential, Grant.@Nullable Granted refused) {
    Slot slot = slots.get(credential.fingerprint(), _ -> new Slot());
    Held held = heldExcept(slot, refused);
    if (held != null && held.standsAt(steady.instant())) {
      return held.grant();
    }
    if (held != null && held.isTokenAt(steady.instant())) {
      // Tokens are renewed early, so that the present one is still good.
      if (!slot.asking.tryLock()) {
        return held.grant();
      }
    } else {
      slot.asking.lock();
    }
    try {
      return asked(slot, credential, refused);
    } finally {
      slot.asking.unlock();
    }
  }

  private static @Nullable Held heldExcept(Slot slot, Grant.@Nullable Granted refused) {
    Held held = slot.held;
    return held == null || held.grant().equals(refused) ? null : held;
  }

  /// Called by one thread at a time: another may just have fetched it.
  private Grant asked(Slot slot, C credential, Grant.@Nullable Granted refused) {
    Held held = heldExcept(slot, refused);
    if (held != null && held.standsAt(steady.instant())) {
      return held.grant();
    }
    Answer answer = ask(credential);
    Instant now = steady.instant();
    Instant until = now.plus(answer.stands());
    Held next =
        answer.grant() instanceof Grant.Unavailable && held != null && held.isTokenAt(now)
            ? new Held(held.grant(), until, held.end())
            : new Held(answer.grant(), until, now.plus(answer.life()));
    slot.held = next;
    return next.grant();
  }

  private Answer ask(C credential) {
    TokenRequest wanted = asking.apply(credential, clock.instant());
    try {
      Answered answered =
          requests.post(
              wanted.endpoint(),
              Map.of("content-type", "application/x-www-form-urlencoded"),
              wanted.form().getBytes(StandardCharsets.UTF_8),
              deadline);
      if (answered.body().length == LiveRequest.MAX_ANSWER_BYTES) {
        throw new IOException("an answer without end");
      }
      return answer(credential, answered);
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn(
          "event=access_token_failed credential={} endpoint={} reason=\"{}\"",
          credential,
          wanted.endpoint(),
          e.toString());
      return Thread.currentThread().isInterrupted()
          ? new Answer(new Grant.Unavailable("interrupted"), Duration.ZERO)
          : new Answer(new Grant.Unavailable("token_endpoint_unreachable"), FAILURE_STANDS);
    }
  }

  private Answer answer(C credential, Answered answered) {
    JsonNode body = json(answered.body());
    String token = body.path("access_token").asString("");
    if (answered.status() == 200 && !token.isEmpty()) {
      metrics.tokenMinted();
      long seconds = body.path("expires_in").asLong(USUAL_LIFE.toSeconds());
      LOG.info("event=access_token_granted credential={}", credential);
      return Answer.granted(
          token,
          Duration.ofSeconds(
              Math.clamp(seconds, SHORTEST_LIFE.toSeconds(), LONGEST_LIFE.toSeconds())));
    }
    // Google's word, or Huawei's numbers.
    String detail = body.path("sub_error").asString("");
    String reason =
        body.path("error").asString("http_" + answered.status())
            + (detail.isEmpty() ? "" : "/" + detail);
    LOG.error(
        "event=access_token_refused credential={} status={} reason={} description=\"{}\"",
        credential,
        answered.status(),
        reason,
        body.path("error_description").asString("").replaceAll("\\s+", " "));
    // An answer without an error's name comes not from the vendor but from a proxy between us.
    boolean ourFault =
        body.has("error")
            && answered.status() >= 400
            && answered.status() < 500
            && answered.status() != 408
            && answered.status() != 429;
    return ourFault
        ? new Answer(new Grant.Refused(answered.status(), reason), REFUSAL_STANDS)
        : new Answer(new Grant.Unavailable("token_endpoint_" + answered.status()), FAILURE_STANDS);
  }

  private static JsonNode json(byte[] body) {
    try {
      return JSON.readTree(body);
    } catch (JacksonException e) {
      return JSON.createObjectNode();
    }
  }
}
