package io.pushplanet.gateway.fcm;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.JsonWebToken;
import io.pushplanet.gateway.provider.ProviderMetrics;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// OAuth access tokens of service accounts (https://developers.google.com/identity/protocols/oauth2/service-account#httprest):
/// asked for once, kept, renewed five minutes before their end. One thread asks, the others wait for it. Thread-safe.
final class AccessTokens implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AccessTokens.class);
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String SCOPE = "https://www.googleapis.com/auth/firebase.messaging";
  private static final String GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  private static final Duration ASSERTION_LIFE = Duration.ofMinutes(55);
  private static final Duration RENEWED_EARLY = Duration.ofMinutes(5);

  /// How long a refusal or a failure stands, so that an endpoint in trouble is not asked by every message.
  private static final Duration REFUSAL_STANDS = Duration.ofSeconds(30);

  private static final Duration FAILURE_STANDS = Duration.ofSeconds(2);
  private static final int MOST_ACCOUNTS = 10_000;

  /// What came of asking.
  sealed interface Grant {
    record Granted(String token) implements Grant {
      @Override
      public String toString() {
        return "Granted[***]";
      }
    }

    /// Google does not accept the service account.
    record Refused(int status, String reason) implements Grant {}

    record Unavailable(String why) implements Grant {}
  }

  private static final class Slot {
    final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    @Nullable Grant grant;

    @GuardedBy("lock")
    Instant until = Instant.MIN;
  }

  private record Answer(Grant grant, Duration life) {}

  private final @Nullable URI endpoint;
  private final Duration deadline;
  private final HttpClient http;
  private final Clock clock;
  private final ProviderMetrics metrics;
  private final Cache<String, Slot> slots =
      Caffeine.newBuilder().maximumSize(MOST_ACCOUNTS).build();

  AccessTokens(FcmSettings settings, SSLContext tls, Clock clock, ProviderMetrics metrics) {
    this.endpoint = settings.tokenEndpoint();
    this.deadline = settings.connection().requestTimeout();
    this.http =
        HttpClient.newBuilder()
            .sslContext(tls)
            .connectTimeout(settings.connection().connectTimeout())
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
    this.clock = clock;
    this.metrics = metrics;
  }

  /// The token to send with now.
  Grant current(FcmServiceAccount account) {
    return currentExcept(account, null);
  }

  /// Another token than one that FCM refused; asked for once for all who hear that.
  Grant renewed(FcmServiceAccount account, Grant.Granted refused) {
    return currentExcept(account, refused);
  }

  private Grant currentExcept(FcmServiceAccount account, Grant.@Nullable Granted refused) {
    Slot slot = slots.get(account.fingerprint(), _ -> new Slot());
    slot.lock.lock();
    try {
      Grant held = slot.grant;
      if (held != null && clock.instant().isBefore(slot.until) && !held.equals(refused)) {
        return held;
      }
      Answer answer = ask(account);
      slot.grant = answer.grant();
      slot.until = clock.instant().plus(answer.life());
      return answer.grant();
    } finally {
      slot.lock.unlock();
    }
  }

  private Answer ask(FcmServiceAccount account) {
    URI target = endpoint == null ? account.tokenUri() : endpoint;
    try {
      HttpRequest request =
          HttpRequest.newBuilder(target)
              .timeout(deadline)
              .header("content-type", "application/x-www-form-urlencoded")
              .POST(HttpRequest.BodyPublishers.ofString(form(account, target)))
              .build();
      return answer(account, answered(request));
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn(
          "event=access_token_failed projectId={} endpoint={} reason=\"{}\"",
          account.projectId(),
          target,
          e.toString());
      return new Answer(new Grant.Unavailable("token_endpoint_unreachable"), FAILURE_STANDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Answer(new Grant.Unavailable("interrupted"), Duration.ZERO);
    }
  }

  /// The request's own timeout ends with the answer's head; this one covers its body too.
  private HttpResponse<String> answered(HttpRequest request)
      throws IOException, InterruptedException {
    Future<HttpResponse<String>> answer =
        http.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    try {
      return answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e.getCause());
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new IOException("no answer within " + deadline, e);
    }
  }

  private Answer answer(FcmServiceAccount account, HttpResponse<String> response) {
    JsonNode body = json(response.body());
    String token = body.path("access_token").asString("");
    if (response.statusCode() == 200 && !token.isEmpty()) {
      metrics.tokenMinted();
      Duration life = Duration.ofSeconds(body.path("expires_in").asLong(3_600));
      LOG.info("event=access_token_granted projectId={}", account.projectId());
      return new Answer(new Grant.Granted(token), life.minus(RENEWED_EARLY));
    }
    String reason = body.path("error").asString("http_" + response.statusCode());
    LOG.error(
        "event=access_token_refused projectId={} status={} reason={}",
        account.projectId(),
        response.statusCode(),
        reason);
    boolean ourFault =
        response.statusCode() >= 400
            && response.statusCode() < 500
            && response.statusCode() != 408
            && response.statusCode() != 429;
    return ourFault
        ? new Answer(new Grant.Refused(response.statusCode(), reason), REFUSAL_STANDS)
        : new Answer(
            new Grant.Unavailable("token_endpoint_" + response.statusCode()), FAILURE_STANDS);
  }

  private String form(FcmServiceAccount account, URI audience) {
    Instant now = clock.instant();
    String assertion =
        JsonWebToken.rs256(
            account.key(),
            account.keyId(),
            JSON.createObjectNode()
                .put("iss", account.clientEmail())
                .put("scope", SCOPE)
                .put("aud", audience.toString())
                .put("iat", now.getEpochSecond())
                .put("exp", now.plus(ASSERTION_LIFE).getEpochSecond()));
    return "grant_type="
        + URLEncoder.encode(GRANT, StandardCharsets.UTF_8)
        + "&assertion="
        + URLEncoder.encode(assertion, StandardCharsets.UTF_8);
  }

  private static JsonNode json(String body) {
    try {
      return JSON.readTree(body.isBlank() ? "{}" : body);
    } catch (JacksonException e) {
      return JSON.createObjectNode();
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
