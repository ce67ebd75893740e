package io.pushplanet.cm.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.quickstart.services.LocalServices;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InboxTableIT {
  private static final Instant NOW = Instant.parse("2026-11-22T00:00:00Z");
  private static final int PER_DEVICE = 3;
  private static final int PER_READ = 5;

  private final HikariDataSource database = new HikariDataSource();
  private final InboxTable table = new InboxTable(database, PER_DEVICE, PER_READ);
  private final AppId shop = new AppId("a" + UUID.randomUUID());
  private final AppId news = new AppId("b" + UUID.randomUUID());
  private int parked;

  InboxTableIT() {
    var mysql = LocalServices.forTests().mysql();
    database.setJdbcUrl(mysql.jdbcUrl());
    database.setUsername(mysql.user());
    database.setPassword(mysql.password());
  }

  @AfterEach
  void close() {
    database.close();
  }

  @Test
  void each_device_gets_the_rows_of_its_own_app() throws SQLException {
    park(new DeviceKey(shop, new DeviceId("d1")), 1);
    park(new DeviceKey(shop, new DeviceId("d3")), 1);
    park(new DeviceKey(news, new DeviceId("d1")), 2);
    park(new DeviceKey(news, new DeviceId("d2")), 1);
    var asked =
        List.of(
            new DeviceKey(shop, new DeviceId("d1")),
            new DeviceKey(news, new DeviceId("d1")),
            new DeviceKey(shop, new DeviceId("d2")),
            new DeviceKey(shop, new DeviceId("d4")));

    var pages = table.read(asked, NOW);

    assertThat(pages).containsOnlyKeys(asked.get(0), asked.get(1));
    assertThat(pages.get(asked.get(0)).rows()).hasSize(1);
    assertThat(pages.get(asked.get(1)).rows()).hasSize(2);
    assertThat(pages.values()).noneMatch(InboxPage.Rows::more);
    assertThat(table.among(asked, NOW)).containsExactlyInAnyOrder(asked.get(0), asked.get(1));
  }

  @Test
  void who_stands_behind_the_last_row_of_a_full_answer_asks_again() throws SQLException {
    var devices =
        List.of(
            new DeviceKey(shop, new DeviceId("d4")),
            new DeviceKey(shop, new DeviceId("d3")),
            new DeviceKey(shop, new DeviceId("d2")),
            new DeviceKey(shop, new DeviceId("d1")),
            new DeviceKey(shop, new DeviceId("d0")));
    park(devices.get(3), PER_DEVICE);
    park(devices.get(2), PER_DEVICE);

    var pages = table.read(devices, NOW);

    assertThat(pages).containsOnlyKeys(devices.subList(0, 4));
    assertThat(pages.get(devices.get(3)).more()).isFalse();
    assertThat(pages.get(devices.get(2)).rows()).hasSize(PER_READ - PER_DEVICE);
    assertThat(pages.get(devices.get(2)).more()).isTrue();
    assertThat(pages.get(devices.get(1))).isEqualTo(new InboxPage.Rows(List.of(), true));
    assertThat(pages.get(devices.get(0))).isEqualTo(new InboxPage.Rows(List.of(), true));
  }

  @Test
  void a_device_with_more_than_a_page_asks_again() throws SQLException {
    var device = new DeviceKey(shop, new DeviceId("d1"));
    park(device, PER_DEVICE + 1);

    var page = table.read(List.of(device), NOW).get(device);

    assertThat(page.rows()).hasSize(PER_DEVICE);
    assertThat(page.more()).isTrue();
  }

  private void park(DeviceKey device, int rows) throws SQLException {
    try (var connection = database.getConnection();
        var statement =
            connection.prepareStatement(
                "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at,"
                    + " expires_at) VALUES (?,?,?,?,?,?,?)")) {
      for (int row = 0; row < rows; row++) {
        parked++;
        statement.setString(1, device.app().value());
        statement.setString(2, device.device().value());
        statement.setString(3, "slot-" + parked);
        statement.setString(4, String.format(Locale.ROOT, "0190b8a0-0000-7000-8000-%012d", parked));
        statement.setString(5, "{}");
        statement.setObject(6, utc(NOW.minusSeconds(1_000 - parked)));
        statement.setObject(7, utc(NOW.plus(Duration.ofHours(1))));
        statement.executeUpdate();
      }
    }
  }

  private static LocalDateTime utc(Instant at) {
    return LocalDateTime.ofInstant(at, ZoneOffset.UTC);
  }
}
