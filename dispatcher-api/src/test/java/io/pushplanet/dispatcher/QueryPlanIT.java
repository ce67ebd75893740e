package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.ibatis.mapping.BoundSql;
import org.apache.ibatis.mapping.MappedStatement;
import org.apache.ibatis.mapping.SqlCommandType;
import org.apache.ibatis.session.SqlSessionFactory;
import org.junit.jupiter.api.Test;

/// Explains every SELECT of the dispatcher on tables with rows: none may read a whole table.
class QueryPlanIT {
  private static final String A_MESSAGE = "0192e0f0-0000-7000-8000-000000000001";
  private static final int ROWS = 2_000;

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();

  private final String app = dispatcher.tenant().app();

  @Test
  void no_query_reads_a_whole_table() {
    fill();
    Map<String, String> scans = new TreeMap<>();
    int explained = 0;

    for (MappedStatement statement : selects()) {
      explained++;
      // With few denials to tell, and with all of them, as after a failover.
      for (String redis : List.of("9", "another")) {
        explain(statement, parameters(redis), scans);
      }
    }

    assertThat(explained).isGreaterThan(20);
    assertThat(scans).isEmpty();
  }

  private void explain(
      MappedStatement statement, Map<String, Object> parameters, Map<String, String> scans) {
    BoundSql bound = statement.getBoundSql(parameters);
    dispatcher.inDatabase(connection -> {
      try (PreparedStatement explain =
          connection.prepareStatement("EXPLAIN FORMAT=TRADITIONAL " + bound.getSql())) {
        bind(explain, bound, parameters);
        try (ResultSet plan = explain.executeQuery()) {
          while (plan.next()) {
            boolean table =
                plan.getString("table") != null && !plan.getString("table").startsWith("<");
            if (table && List.of("ALL", "index").contains(plan.getString("type"))) {
              scans.put(statement.getId(), plan.getString("table"));
            }
          }
        }
      }
    });
  }

  /// After a failover a million denials are told again, and a device may be deleted meanwhile.
  @Test
  void new_denials_are_told_before_repeated_ones() {
    Map<String, Object> parameters = parameters("another");
    parameters.put("most", 1_000_000);
    List<String> order = new ArrayList<>();
    dispatcher.inDatabase(connection -> {
      // Never committed, because the dispatcher would tell Redis of it by itself.
      connection.setAutoCommit(false);
      try (PreparedStatement rows =
          connection.prepareStatement(
              "INSERT INTO denied_devices (app_id, device_id, ends, told) VALUES (?, ?, NOW(), ?)")) {
        for (String device : List.of("a", "b", "c")) {
          rows.setString(1, app);
          rows.setString(2, device);
          rows.setString(3, device.equals("b") ? null : "9");
          rows.executeUpdate();
        }
      }
      BoundSql untold =
          dispatcher
              .context
              .getBean(SqlSessionFactory.class)
              .getConfiguration()
              .getMappedStatement("io.pushplanet.dispatcher.denial.DenialMapper.untold")
              .getBoundSql(parameters);
      try (PreparedStatement select = connection.prepareStatement(untold.getSql())) {
        bind(select, untold, parameters);
        ResultSet found = select.executeQuery();
        while (found.next()) {
          if (found.getString("app_id").equals(app)) {
            order.add(found.getString("device_id"));
          }
        }
      }
      connection.rollback();
    });

    assertThat(order).hasSize(3).first().isEqualTo("b");
  }

  /// Firefox's subscriptions have their first 64 characters in common.
  @Test
  void a_browsers_subscription_is_found_among_others_of_its_push_service() {
    String endpoint = "{\"endpoint\":\"https://updates.push.services.mozilla.com/wpush/v2/gAAAAAB";
    dispatcher.inDatabase(connection -> {
      try (PreparedStatement rows =
          connection.prepareStatement(
              "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at)"
                  + " VALUES (?, CONCAT('w', ?), 'webpush', CONCAT(?, SHA2(?, 256)), 'subscription', 'production', NOW(3))")) {
        for (int i = 0; i < ROWS; i++) {
          rows.setString(1, app);
          rows.setInt(2, i);
          rows.setString(3, endpoint);
          rows.setInt(4, i);
          rows.addBatch();
        }
        rows.executeBatch();
      }
      try (PreparedStatement explain =
          connection.prepareStatement(
              "EXPLAIN FORMAT=TRADITIONAL SELECT device_id FROM channel_tokens WHERE app_id = ? AND channel = 'webpush'"
                  + " AND token = CONCAT(?, SHA2(7, 256)) AND device_id <> 'w8'")) {
        explain.setString(1, app);
        explain.setString(2, endpoint);
        try (ResultSet plan = explain.executeQuery()) {
          assertThat(plan.next()).isTrue();
          assertThat(plan.getLong("rows")).isLessThan(10);
        }
      }
    });
  }

  private List<MappedStatement> selects() {
    List<MappedStatement> selects = new ArrayList<>();
    for (Object one :
        dispatcher
            .context
            .getBean(SqlSessionFactory.class)
            .getConfiguration()
            .getMappedStatements()) {
      // Short names that are ambiguous stand there as something else.
      if (one instanceof MappedStatement statement
          && statement.getSqlCommandType() == SqlCommandType.SELECT
          && !selects.contains(statement)) {
        selects.add(statement);
      }
    }
    return selects;
  }

  private Map<String, Object> parameters(String redis) {
    Map<String, Object> parameters = new HashMap<>();
    parameters.put("app", app);
    parameters.put("day", LocalDate.parse("2024-10-31"));
    parameters.put("now", Instant.EPOCH);
    parameters.put("id", A_MESSAGE);
    parameters.put("device", "d7");
    parameters.put("devices", List.of("d7", "d8"));
    parameters.put("lists", List.of(7L, 8L));
    parameters.put("users", List.of("u7", "u8"));
    parameters.put("user", "u7");
    parameters.put("topic", "t7");
    parameters.put("tag", "t7");
    parameters.put("channel", "fcm");
    parameters.put("token", "token-7");
    parameters.put("asBefore", "TOKEN-7");
    parameters.put("after", "0");
    parameters.put("before", "~");
    parameters.put("limit", 10);
    parameters.put("most", 10);
    parameters.put("redis", redis);
    return parameters;
  }

  private void bind(PreparedStatement explain, BoundSql bound, Map<String, Object> parameters)
      throws SQLException {
    int index = 1;
    for (var mapping : bound.getParameterMappings()) {
      String name = mapping.getProperty();
      explain.setObject(
          index++,
          bound.hasAdditionalParameter(name)
              ? bound.getAdditionalParameter(name)
              : parameters.get(name));
    }
  }

  private void fill() {
    dispatcher.inDatabase(connection -> {
      connection.setAutoCommit(false);
      for (String insert :
          List.of(
              "INSERT INTO devices (app_id, device_id, platform, mqtt, user_id, created_at, updated_at, seen_at)"
                  + " VALUES (?, CONCAT('d', ?), 'ios', 1, CONCAT('u', ?), NOW(3), NOW(3), NOW(3))",
              "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at)"
                  + " VALUES (?, CONCAT('d', ?), 'fcm', CONCAT('token-', ?), 'token', 'production', NOW(3))",
              "INSERT INTO device_topics (app_id, device_id, topic) VALUES (?, CONCAT('d', ?), CONCAT('t', ? MOD 50))",
              "INSERT INTO device_tags (app_id, device_id, tag) VALUES (?, CONCAT('d', ?), CONCAT('t', ? MOD 50))",
              "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at)"
                  + " VALUES (?, CONCAT('d', ?), ?, UUID(), '{}', NOW(3), NOW(3))",
              "INSERT INTO deliveries (day, message_id, device_id, app_id, state, attempts, queued_at)"
                  + " SELECT '2024-10-31', UUID(), x.d, x.a, 'queued', '[]', NOW(3) FROM"
                  + " (SELECT ? AS a, CONCAT('d', ?) AS d, ? AS n) x",
              "INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at)"
                  + " SELECT '2024-10-31', UUID(), x.a, '', '', '', NOW(3), NOW(3) FROM"
                  + " (SELECT ? AS a, ? AS d, ? AS n) x",
              "INSERT INTO later (id, due_at, app_id, message_id, lane, reason, pushes)"
                  + " SELECT UUID(), NOW(3), x.a, UUID(), 'push.fcm.high', '', '[]' FROM"
                  + " (SELECT ? AS a, ? AS d, ? AS n) x",
              "INSERT INTO broadcast_devices (app_id, seq, message_id, parked_at, expires_at, first_device, last_device, devices)"
                  + " SELECT IF(x.n MOD 50 = 0, x.a, CONCAT(x.a, x.n MOD 50)), x.n, UUID(), NOW(3), NOW(3), x.d, x.d, x.d FROM"
                  + " (SELECT ? AS a, CONCAT('d', ?) AS d, ? AS n) x",
              "INSERT INTO broadcast_positions (app_id, device_id, seq, moved_at)"
                  + " VALUES (?, CONCAT('d', ?), ?, NOW(3))",
              "INSERT INTO uplinks (event_id, app_id, device_id, at, payload)"
                  + " SELECT UUID(), x.a, x.d, NOW(3), 'p' FROM (SELECT ? AS a, ? AS d, ? AS n) x",
              "INSERT INTO denied_devices (app_id, device_id, ends, told)"
                  + " SELECT x.a, CONCAT('d', x.d), NOW(), IF(x.n MOD 50 = 0, NULL, '9') FROM (SELECT ? AS a, ? AS d, ? AS n) x",
              "INSERT INTO api_keys (id, app_id, name, hash, scopes, created_at)"
                  + " SELECT LEFT(REPLACE(UUID(), '-', ''), 32), x.a, 'n', 'h', 'read', NOW(3) FROM"
                  + " (SELECT ? AS a, ? AS d, ? AS n) x")) {
        try (PreparedStatement rows = connection.prepareStatement(insert)) {
          for (int i = 0; i < ROWS; i++) {
            rows.setString(1, app);
            rows.setInt(2, i);
            rows.setInt(3, i);
            rows.addBatch();
          }
          rows.executeBatch();
        }
      }
      connection.commit();
      try (var statement = connection.createStatement()) {
        statement.execute(
            "ANALYZE TABLE devices, channel_tokens, device_topics, device_tags, inbox, deliveries, messages,"
                + " later, uplinks, api_keys, broadcast_devices, broadcast_positions, denied_devices");
      }
    });
  }
}
