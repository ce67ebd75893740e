package io.pushplanet.simulators.apns;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Judges the provider tokens of all connections of one environment.
///
/// Updates are counted per team, as Apple's staff say
/// (https://developer.apple.com/forums/thread/702056), unless asked to count them per key.
///
/// Thread-safe.
final class ProviderTokens {
  private static final JsonMapper JSON = JsonMapper.shared();

  /// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
  private static final Duration LONGEST_LIFE = Duration.ofMinutes(60);

  private static final Duration CLOCK_SKEW = Duration.ofMinutes(1);
  private static final int MAX_REMEMBERED = 10_000;

  private final Function<String, @Nullable ApnsKey> keys;
  private final String environment;
  private final Clock clock;

  @GuardedBy("this")
  private final Map<String, Judged> remembered =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Judged> eldest) {
          return size() > MAX_REMEMBERED;
        }
      };

  @GuardedBy("this")
  private final Map<String, Instant> lastChange = new LinkedHashMap<>();

  @GuardedBy("this")
  private Duration renewal;

  @GuardedBy("this")
  private boolean perTeam = true;

  ProviderTokens(
      Function<String, @Nullable ApnsKey> keys, String environment, Duration renewal, Clock clock) {
    this.keys = keys;
    this.environment = environment;
    this.renewal = renewal;
    this.clock = clock;
  }

  /// A valid token and its key.
  sealed interface Verdict {
    record Good(ApnsKey key) implements Verdict {}

    record Bad(ApnsRefusal refusal) implements Verdict {}
  }

  private record Judged(ApnsKey key, Instant issuedAt) {}

  Verdict judge(String jwt) {
    Judged judged;
    synchronized (this) {
      judged = remembered.get(jwt);
    }
    if (judged == null || !judged.key().equals(keys.apply(judged.key().keyId()))) {
      judged = verify(jwt);
      if (judged == null) {
        return new Verdict.Bad(ApnsRefusal.InvalidProviderToken);
      }
    }
    Instant now = clock.instant();
    if (judged.issuedAt().isAfter(now.plus(CLOCK_SKEW))) {
      return new Verdict.Bad(ApnsRefusal.InvalidProviderToken);
    }
    if (judged.issuedAt().plus(LONGEST_LIFE).isBefore(now)) {
      return new Verdict.Bad(ApnsRefusal.ExpiredProviderToken);
    }
    if (!judged.key().serves(environment)) {
      return new Verdict.Bad(ApnsRefusal.BadEnvironmentKeyIdInToken);
    }
    return remember(jwt, judged, now)
        ? new Verdict.Good(judged.key())
        : new Verdict.Bad(ApnsRefusal.TooManyProviderTokenUpdates);
  }

  synchronized void renewal(Duration shortest, boolean countedPerTeam) {
    renewal = shortest;
    perTeam = countedPerTeam;
    lastChange.clear();
  }

  /// False when the token changed too soon after the last change.
  private synchronized boolean remember(String jwt, Judged judged, Instant now) {
    if (remembered.containsKey(jwt)) {
      remembered.put(jwt, judged);
      return true;
    }
    String owner = perTeam ? judged.key().teamId() : judged.key().keyId();
    Instant changed = lastChange.get(owner);
    if (changed != null && changed.plus(renewal).isAfter(now)) {
      return false;
    }
    lastChange.put(owner, now);
    remembered.put(jwt, judged);
    return true;
  }

  private @Nullable Judged verify(String jwt) {
    String[] parts = jwt.split("\\.", -1);
    if (parts.length != 3) {
      return null;
    }
    try {
      JsonNode header = JSON.readTree(Base64.getUrlDecoder().decode(parts[0]));
      JsonNode claims = JSON.readTree(Base64.getUrlDecoder().decode(parts[1]));
      ApnsKey key = keys.apply(header.path("kid").asString(""));
      if (key == null
          || !header.path("alg").asString("").equals("ES256")
          || !claims.path("iss").asString("").equals(key.teamId())
          || !claims.path("iat").isIntegralNumber()) {
        return null;
      }
      byte[] signed = Base64.getUrlDecoder().decode(parts[2]);
      // JWT wants 64 bare bytes. Apple also takes DER, which is what pushy has always sent.
      boolean bare = signed.length == 64;
      Signature signature =
          Signature.getInstance(bare ? "SHA256withECDSAinP1363Format" : "SHA256withECDSA");
      signature.initVerify(key.publicKey());
      signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
      return signature.verify(signed)
          ? new Judged(key, Instant.ofEpochSecond(claims.path("iat").asLong()))
          : null;
    } catch (IllegalArgumentException | JacksonException | GeneralSecurityException malformed) {
      return null;
    }
  }
}
