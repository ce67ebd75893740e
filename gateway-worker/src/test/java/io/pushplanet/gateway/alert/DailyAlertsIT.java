package io.pushplanet.gateway.alert;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.alert.Alerts.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DelegatingDataSource;

class DailyAlertsIT {
  private final AppId app = new AppId("daily-" + UUID.randomUUID());
  private final RealServers servers = RealServers.start();
  private final MutableClock clock = MutableClock.started();
  private int asked;
  private boolean away;

  @AfterEach
  void close() {
    servers.close();
  }

  private DailyAlerts worker() {
    DataSource watched =
        new DelegatingDataSource(servers.database()) {
          @Override
          public Connection getConnection() throws SQLException {
            asked++;
            if (away) {
              throw new SQLException("away");
            }
            return super.getConnection();
          }
        };
    return new DailyAlerts(new Alerts(watched, clock, new SimpleMeterRegistry()), clock);
  }

  @Test
  void a_credential_is_told_about_once_a_day_by_all_workers_together() {
    DailyAlerts one = worker();
    DailyAlerts other = worker();

    for (int message = 0; message < 10; message++) {
      tell(one, "production");
      tell(other, "production");
    }
    tell(one, "sandbox");
    assertThat(told()).isEqualTo(2);
    assertThat(asked).isEqualTo(3);

    clock.advance(Duration.ofDays(1));
    tell(one, "production");
    assertThat(told()).isEqualTo(3);
  }

  @Test
  void while_the_database_is_away_it_is_tried_once_a_minute() {
    DailyAlerts worker = worker();
    away = true;
    for (int message = 0; message < 10; message++) {
      tell(worker, "production");
    }
    assertThat(asked).isEqualTo(1);

    away = false;
    clock.advance(Duration.ofMinutes(1));
    tell(worker, "production");

    assertThat(told()).isEqualTo(1);
  }

  private void tell(DailyAlerts alerts, String credential) {
    alerts.tell(Kind.TOKENS_FOREIGN, app, credential, "apns/" + credential, "text");
  }

  private long told() {
    return servers
        .sql()
        .queryForObject(
            "SELECT COUNT(*) FROM alerts WHERE app_id = ? AND kind = 'tokens_foreign'",
            Long.class,
            app.value());
  }
}
