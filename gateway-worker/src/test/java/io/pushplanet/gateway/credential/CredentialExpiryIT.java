package io.pushplanet.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.alert.Alerts;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CredentialExpiryIT {
  private static final List<Integer> DAYS = List.of(30, 7);

  private final Clock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private RealServers servers;

  @BeforeEach
  void start() throws Exception {
    servers = new RealServers();
  }

  @AfterEach
  void close() {
    servers.sql().update("DELETE FROM credentials WHERE created_by = 'expiry'");
    servers.sql().update("DELETE FROM alerts WHERE app_id LIKE 'expiry-%'");
    servers.close();
  }

  @Test
  void an_ended_certificate_keeps_no_other_from_being_told() {
    certificates("ended", Duration.ofDays(-100), 1_001);
    certificates("soon", Duration.ofDays(5), 1);
    Alerts alerts = new Alerts(servers.database(), clock, meters);
    CredentialExpiry expiry = new CredentialExpiry(servers.database(), alerts, DAYS, clock, meters);

    expiry.round();

    assertThat(texts("expiry-soon-%")).singleElement().asString().contains("within 7 days");
    assertThat(
            meters
                .get("pushplanet.credential.days.left")
                .tag("app", "expiry-soon-0")
                .gauge()
                .value())
        .isEqualTo(5);
    assertThat(texts("expiry-ended-%")).hasSize(1_000);

    expiry.round();
    expiry.round();

    assertThat(texts("expiry-ended-%")).hasSize(1_001).allMatch(text -> text.contains("has ended"));
    assertThat(texts("expiry-soon-%")).hasSize(1);
  }

  private void certificates(String name, Duration left, int many) {
    Timestamp end = Timestamp.from(clock.instant().plus(left));
    servers
        .sql()
        .batchUpdate(
            "INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, expires_at, created_at, created_by)"
                + " VALUES (?, 'apns', 'production', 'p12', 'active', '{}', '', ?, ?, 'expiry')",
            IntStream.range(0, many)
                .mapToObj(i -> new Object[] {"expiry-" + name + "-" + i, end, end})
                .toList());
  }

  private List<String> texts(String apps) {
    return servers
        .sql()
        .queryForList("SELECT text FROM alerts WHERE app_id LIKE ?", String.class, apps);
  }
}
