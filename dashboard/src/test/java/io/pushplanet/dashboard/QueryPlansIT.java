package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.ibatis.mapping.BoundSql;
import org.apache.ibatis.mapping.MappedStatement;
import org.apache.ibatis.mapping.SqlCommandType;
import org.apache.ibatis.session.SqlSessionFactory;
import org.junit.jupiter.api.Test;

/// Explains every SELECT of this process against tables with many rows: none may read a whole table
/// that grows.
class QueryPlansIT {
  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void no_query_reads_a_whole_growing_table() {
    List<String> growing =
        List.of(
            "messages",
            "deliveries",
            "statistics_minutes",
            "devices",
            "channel_tokens",
            "device_topics",
            "device_tags",
            "api_keys",
            "credentials",
            "audit");
    manyRows();
    List<String> explained = new ArrayList<>();
    var configuration = dashboard.bean(SqlSessionFactory.class).getConfiguration();
    for (Object each : configuration.getMappedStatements()) {
      if (!(each instanceof MappedStatement statement)
          || statement.getSqlCommandType() != SqlCommandType.SELECT
          || explained.contains(statement.getId())) {
        continue;
      }
      BoundSql query = statement.getBoundSql(Map.of());
      Object[] values =
          query.getParameterMappings().stream().map(p -> sample(p.getProperty())).toArray();
      for (Map<String, Object> line :
          dashboard.sql().queryForList("EXPLAIN FORMAT=TRADITIONAL " + query.getSql(), values)) {
        if (growing.contains(String.valueOf(line.get("table")))) {
          assertThat(String.valueOf(line.get("type")))
              .as(statement.getId() + " on " + line)
              .isNotIn("ALL", "index");
        }
      }
      explained.add(statement.getId());
    }
    assertThat(explained).hasSizeGreaterThan(18);
  }

  private static Object sample(String property) {
    return switch (property) {
      case "app" -> "plans";
      case "day" -> java.sql.Date.valueOf(java.time.LocalDate.of(2026, 11, 21));
      case "from", "now", "since", "until" -> java.sql.Timestamp.valueOf("2026-11-21 10:00:00");
      case "most" -> 51;
      case "id", "device", "user", "after", "find", "name", "without", "provider", "environment" ->
          "x-500";
      case "before" -> "5";
      default -> throw new AssertionError("no sample for parameter " + property);
    };
  }

  /// Enough rows, and of enough apps, that the optimiser has no reason to read everything.
  private void manyRows() {
    var sql = dashboard.sql();
    String numbers =
        "(SELECT seq FROM (SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS seq FROM "
            + digits("a")
            + ", "
            + digits("b")
            + ", "
            + digits("c")
            + ", "
            + digits("d")
            + ") s) numbers";
    sql.update(
        "INSERT IGNORE INTO devices (app_id, device_id, platform, mqtt, user_id, locale, timezone, app_version, created_at, updated_at, seen_at) SELECT CONCAT('plans-', MOD(seq, 40)), CONCAT('x-', seq), 'ios', TRUE, CONCAT('u', seq), NULL, NULL, NULL, NOW(), NOW(), NOW() FROM "
            + numbers);
    sql.update(
        "INSERT IGNORE INTO channel_tokens SELECT CONCAT('plans-', MOD(seq, 40)), CONCAT('x-', seq), 'apns', 't', 'token', 'production', NOW(), NULL, NULL FROM "
            + numbers);
    sql.update(
        "INSERT IGNORE INTO device_topics SELECT CONCAT('plans-', MOD(seq, 40)), CONCAT('t', MOD(seq, 7)), CONCAT('x-', seq) FROM "
            + numbers);
    sql.update(
        "INSERT IGNORE INTO device_tags SELECT CONCAT('plans-', MOD(seq, 40)), CONCAT('t', MOD(seq, 7)), CONCAT('x-', seq) FROM "
            + numbers);
    sql.update(
        "INSERT IGNORE INTO deliveries (day, message_id, device_id, app_id, state, attempts, queued_at) SELECT DATE_SUB('2026-11-25', INTERVAL MOD(seq, 30) DAY), CONCAT('01a1fc9a-a1eb-76b5-9f6e-', LPAD(seq, 12, '0')), CONCAT('x-', seq), CONCAT('plans-', MOD(seq, 40)), 'queued', '[]', NOW() FROM "
            + numbers);
    sql.update(
        "INSERT IGNORE INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at) SELECT DATE_SUB('2026-11-25', INTERVAL MOD(seq, 30) DAY), CONCAT('01a1fc9a-a1eb-76b5-9f6e-', LPAD(seq, 12, '0')), CONCAT('plans-', MOD(seq, 40)), '', '', '', NOW(), NOW() FROM "
            + numbers);
    sql.update(
        "INSERT IGNORE INTO statistics_minutes SELECT DATE_SUB('2026-11-25', INTERVAL MOD(seq, 30) DAY), DATE_SUB('2026-11-25', INTERVAL seq MINUTE), CONCAT('plans-', MOD(seq, 40)), 'apns', 'failed', CONCAT('r', seq), 1 FROM "
            + numbers);
    sql.update(
        "INSERT IGNORE INTO audit (at, operator, action, subject, detail) SELECT NOW(), 'plans', 'login', '', '' FROM "
            + numbers);
    sql.update(
        "INSERT IGNORE INTO api_keys SELECT CONCAT('k', seq), CONCAT('plans-', MOD(seq, 400)), 'k', REPEAT('0', 32), 'send', NOW(), NULL FROM "
            + numbers);
    sql.update(
        "INSERT IGNORE INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by) SELECT CONCAT('plans-', MOD(seq, 400)), 'apns', 'production', 'p8', 'retired', '{}', '', NOW(), '' FROM "
            + numbers);
    sql.execute(
        "ANALYZE TABLE devices, channel_tokens, device_topics, device_tags, deliveries, messages, statistics_minutes, audit, api_keys, credentials");
  }

  private static String digits(String name) {
    return "(SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5"
        + " UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) "
        + name;
  }
}
