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
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
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

  /// A slow provider's probe.
  private final class Slow implements CredentialProbe {
    @Override
    public String provider() {
      return "hms";
    }

    @Override
    public Verdict ask(Credential credential, String environment) {
      if (((HmsClient) credential).clientId().equals("slow")) {
        slowlyAsked.countDown();
        try {
          slowlyAnswered.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return new Verdict.Accepted("200");
    }
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void a_provider_that_takes_long_holds_up_no_credential_that_comes_meanwhile() throws Exception {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    Alerts alerts = new Alerts(servers.database(), clock, meters);
    CredentialWatch watch =
        new CredentialWatch(
            servers.database(),
            vault,
            new CredentialPauses(servers.database(), alerts, clock, meters),
            List.of(new Slow()),
            clock,
            new Random(1));
    PeriodicTask task = new PeriodicTask("credential-watch", OFTEN, watch::round, meters);
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
