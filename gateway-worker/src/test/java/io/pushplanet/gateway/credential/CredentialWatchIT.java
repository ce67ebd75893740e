package io.pushplanet.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.credential.Credential.HmsClient;
import io.pushplanet.gateway.credential.CredentialProbe.Verdict;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CredentialWatchIT {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration OFTEN = Duration.ofMillis(10);

  private final RealServers servers = RealServers.start();
  private final MutableClock clock = MutableClock.started();
  private final SecureRandom random = new SecureRandom();
  private final CredentialVault vault =
      new CredentialVault(MasterKey.parse(MasterKey.generate(random)), random);
  private final CountDownLatch slowlyAsked = new CountDownLatch(1);
  private final CountDownLatch slowlyAnswered = new CountDownLatch(1);

  /// A slow provider's verdict.
  private Verdict slowly(String clientId) {
    if (clientId.equals("slow")) {
      slowlyAsked.countDown();
      try {
        slowlyAnswered.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return new Verdict.Accepted("200");
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void a_provider_that_takes_long_holds_up_no_credential_that_comes_meanwhile() throws Exception {
    CredentialWatch watch = watch(this::slowly);
    PeriodicTask task =
        new PeriodicTask("credential-watch", OFTEN, watch::round, new SimpleMeterRegistry());
    long slow = upload("watched-slow", "slow");
    task.start();
    slowlyAsked.await();

    long fast = upload("watched-fast", "fast");

    Eventually.within(PATIENCE, () -> assertThat(verdict(fast)).isEqualTo("accepted"));
    assertThat(verdict(slow)).isNull();
    slowlyAnswered.countDown();
    Eventually.within(PATIENCE, () -> assertThat(verdict(slow)).isEqualTo("accepted"));
    task.stop();
  }

  @Test
  void a_provider_that_could_not_be_asked_about_a_new_credential_is_asked_again() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    CredentialWatch watch =
        watch(_ ->
            asked.incrementAndGet() < 3
                ? new Verdict.Unreachable("429 TooManyProviderTokenUpdates")
                : new Verdict.Accepted("400 BadDeviceToken"));
    long id = upload("watched-later", "later");

    round(watch, id, 1, "unreachable");
    clock.advance(Duration.ofSeconds(9));
    assertThat(watch.round()).isFalse();
    assertThat(asked).hasValue(1);
    clock.advance(Duration.ofSeconds(4));
    round(watch, id, 2, "unreachable");
    clock.advance(Duration.ofSeconds(26));
    round(watch, id, 3, "accepted");

    clock.advance(Duration.ofHours(2));
    assertThat(watch.round()).isFalse();
    assertThat(asked).hasValue(3);
  }

  @Test
  void it_is_asked_so_often_at_most_and_not_at_all_once_it_has_refused() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    CredentialWatch watch =
        watch(clientId -> {
          asked.incrementAndGet();
          return clientId.equals("bad")
              ? new Verdict.Refused("403 InvalidProviderToken")
              : new Verdict.Unreachable("no answer");
        });
    long refused = upload("watched-refused", "bad");
    round(watch, refused, 1, "refused");
    clock.advance(Duration.ofHours(1));
    assertThat(watch.round()).isFalse();
    assertThat(probes(refused)).isOne();

    long away = upload("watched-away", "away");
    for (int probe = 1; probe <= CredentialWatch.MOST_PROBES_BEFORE_USE; probe++) {
      round(watch, away, probe, "unreachable");
      clock.advance(Duration.ofMinutes(7));
    }

    assertThat(watch.round()).isFalse();
    assertThat(asked).hasValue(1 + CredentialWatch.MOST_PROBES_BEFORE_USE);
  }

  /// Apple ends its TLS handshakes, and no send would learn why. Six days ago, because no other
  /// test's credential is due then, and workers of other tests delete changes that are older than
  /// seven days, which their feeds would miss.
  @Test
  void a_certificate_in_use_is_paused_when_it_ends() throws Exception {
    MutableClock then =
        new MutableClock(Instant.now().truncatedTo(ChronoUnit.MILLIS).minus(Duration.ofDays(6)));
    CredentialWatch watch = watch(_ -> new Verdict.Accepted("200"), then);
    long id = upload("watched-ending", "ending");
    Instant end = then.instant().plus(Duration.ofHours(1));
    servers
        .sql()
        .update(
            "UPDATE credentials SET state = 'active', probe_at = NULL, expires_at = ? WHERE id = ?",
            Timestamp.from(end),
            id);
    watch.round();
    assertThat(pausedBecause(id)).isNull();

    then.advance(Duration.ofHours(1));

    // What other tests have left may be asked about first.
    Eventually.within(
        PATIENCE,
        () -> {
          watch.round();
          assertThat(pausedBecause(id)).isEqualTo("the certificate has ended on " + end);
        });
  }

  private @Nullable String pausedBecause(long id) {
    return servers
        .sql()
        .queryForObject("SELECT pause_reason FROM credentials WHERE id = ?", String.class, id);
  }

  private CredentialWatch watch(Function<String, Verdict> verdicts) {
    return watch(verdicts, clock);
  }

  private CredentialWatch watch(Function<String, Verdict> verdicts, Clock clock) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    Alerts alerts = new Alerts(servers.database(), clock, meters);
    CredentialProbe probe =
        new CredentialProbe() {
          @Override
          public String provider() {
            return "hms";
          }

          @Override
          public Verdict ask(Credential credential, String environment) {
            return verdicts.apply(((HmsClient) credential).clientId());
          }
        };
    return new CredentialWatch(
        servers.database(),
        vault,
        new CredentialPauses(servers.database(), alerts, clock, meters),
        List.of(probe),
        clock,
        new Random(1));
  }

  /// One round, until its verdict is written.
  private void round(CredentialWatch watch, long id, int probes, String verdict) {
    watch.round();
    Eventually.within(PATIENCE, () -> assertThat(probes(id)).isEqualTo(probes));
    assertThat(verdict(id)).isEqualTo(verdict);
  }

  private int probes(long id) {
    return servers
        .sql()
        .queryForObject("SELECT probes FROM credentials WHERE id = ?", Integer.class, id);
  }

  /// Uploads a candidate that is due for a probe.
  private long upload(String app, String clientId) {
    servers.sql().update("DELETE FROM credentials WHERE app_id = ?", app);
    servers
        .sql()
        .update(
            "INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by)"
                + " VALUES (?, 'hms', 'production', 'client_secret', 'candidate', ?, '', ?, 'test')",
            app,
            "{\"client_id\":\"" + clientId + "\"}",
            Timestamp.from(clock.instant()));
    long id =
        servers
            .sql()
            .queryForObject("SELECT id FROM credentials WHERE app_id = ?", Long.class, app);
    byte[] sealed =
        vault.encrypt(
            new AppId(app), "hms", "production", id, "secret".getBytes(StandardCharsets.UTF_8));
    servers
        .sql()
        .update(
            "UPDATE credentials SET secret = ?, probe_at = ? WHERE id = ?",
            sealed,
            Timestamp.from(clock.instant()),
            id);
    return id;
  }

  private @Nullable String verdict(long id) {
    return servers
        .sql()
        .queryForObject("SELECT probe_verdict FROM credentials WHERE id = ?", String.class, id);
  }
}
