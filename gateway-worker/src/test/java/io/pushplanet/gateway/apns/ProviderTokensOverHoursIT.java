package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.simulators.Options;
import io.pushplanet.simulators.Simulators;
import io.pushplanet.simulators.tls.Authority.Pem;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Three hours of twenty workers that restart every five minutes, against an APNs that counts the
/// changes of a team's provider token as Apple's staff say it does: pushy's users meet
/// `TooManyProviderTokenUpdates` there (jchambers/pushy#811,
/// #793, #931, #568, #682).
class ProviderTokensOverHoursIT {
  private static final int WORKERS = 20;
  private static final Duration STEP = Duration.ofMinutes(1);
  private static final Duration RESTART_EVERY = Duration.ofMinutes(5);
  private static final Duration IN_ALL = Duration.ofHours(3);

  @TempDir Path state;

  /// Today, because of the certificates, and at the beginning of a minute, so that every run is the
  /// same.
  private final MutableClock clock =
      new MutableClock(Clock.systemUTC().instant().truncatedTo(ChronoUnit.MINUTES));

  private Simulators simulators;
  private HttpClient client;
  private ApnsKey key;

  @BeforeEach
  void start() throws Exception {
    simulators = Simulators.start(Options.in(state), clock);
    client =
        HttpClient.newBuilder()
            .sslContext(Trust.with("authority", simulators.authority().pem()).context())
            .build();
    var issued =
        io.pushplanet.simulators.apns.ApnsKey.issue(
            "TEAM000001", "KEY0000001", List.of("com.example"));
    simulators.apnsDirectory().register(issued.key());
    var secret =
        KeyFactory.getInstance("EC")
            .generatePrivate(new PKCS8EncodedKeySpec(Pem.decode(issued.p8())));
    key = new ApnsKey("TEAM000001", "KEY0000001", "com.example", (ECPrivateKey) secret, "f");
  }

  @AfterEach
  void stop() {
    client.shutdownNow();
    simulators.close();
  }

  @Test
  void pushy_811_pushy_793_pushy_931_twenty_restarting_workers_never_change_the_token_too_often()
      throws Exception {
    Map<String, Integer> answers = threeHours(new LocalTokens(clock), () -> {});

    assertThat(answers).containsOnlyKeys("200 ");
    assertThat(answers.get("200 ")).isEqualTo(WORKERS * (int) IN_ALL.dividedBy(STEP));
  }

  @Test
  void without_sharing_the_same_workers_are_told_off() throws Exception {
    Map<String, Integer> answers = threeHours(LocalTokens.away(clock), () -> {});

    assertThat(answers).containsKey("429 TooManyProviderTokenUpdates");
  }

  @Test
  void nor_do_they_when_redis_loses_everything_every_minute() throws Exception {
    LocalTokens redis = new LocalTokens(clock);

    assertThat(threeHours(redis, redis.held::clear)).containsOnlyKeys("200 ");
  }

  private Map<String, Integer> threeHours(SharedTokens shared, Runnable eachMinute)
      throws Exception {
    Map<String, Integer> answers = new TreeMap<>();
    List<ProviderTokens> workers = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      workers.add(worker(i, shared));
    }
    Instant end = clock.instant().plus(IN_ALL);
    for (int minute = 0; clock.instant().isBefore(end); minute++) {
      eachMinute.run();
      workers.forEach(ProviderTokens::share);
      for (int i = 0; i < WORKERS; i++) {
        // Not all at once: workers are replaced one after the other.
        if ((minute + i) % RESTART_EVERY.toMinutes() == 0) {
          workers.set(i, worker(i, shared));
        }
        answers.merge(push(workers.get(i)), 1, Integer::sum);
      }
      clock.advance(STEP);
    }
    return answers;
  }

  /// Their clocks differ by up to three seconds.
  private ProviderTokens worker(int number, SharedTokens shared) {
    return new ProviderTokens(
        shared,
        new Late(clock, Duration.ofMillis(300L * (number - WORKERS / 2))),
        new ProviderMetrics(new SimpleMeterRegistry(), Channel.APNS));
  }

  /// Sends with the present token, and reacts to a refusal as [ApnsProvider] does.
  private String push(ProviderTokens worker) throws Exception {
    ProviderToken token = worker.current(key);
    String answer = answered(token);
    switch (answer) {
      case "403 ExpiredProviderToken" -> {
        var _ = worker.renewed(key, token);
      }
      case "429 TooManyProviderTokenUpdates" -> worker.keepOlder(key, token, ProviderTokens.REST);
      default -> {}
    }
    return answer;
  }

  private String answered(ProviderToken token) throws Exception {
    HttpResponse<String> response =
        client.send(
            HttpRequest.newBuilder(
                    URI.create(
                        "https://localhost:"
                            + simulators.apns().port()
                            + "/3/device/"
                            + "ab".repeat(32)))
                .timeout(Duration.ofSeconds(60))
                .header("authorization", "bearer " + token.jwt())
                .header("apns-topic", "com.example")
                .header("apns-push-type", "alert")
                .POST(HttpRequest.BodyPublishers.ofString("{\"aps\":{\"alert\":\"hello\"}}"))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    String reason = response.body().replaceAll("\\{\"reason\":\"([A-Za-z]+)\".*", "$1");
    return response.statusCode() + " " + reason;
  }

  private static final class Late extends Clock {
    private final Clock right;
    private final Duration by;

    Late(Clock clock, Duration by) {
      this.right = clock;
      this.by = by;
    }

    @Override
    public Instant instant() {
      return right.instant().plus(by);
    }

    @Override
    public ZoneId getZone() {
      return right.getZone();
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }
  }
}
