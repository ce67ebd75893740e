package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.simulators.apns.ApnsKey;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/// Credentials of apps in the database, written as the dashboard writes them, and their verdicts.
final class CredentialRows {
  static final String P12_DETAIL = "{\"bundle_id\":\"" + ProviderPlatform.BUNDLE + "\"}";
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Clock CLOCK = Clock.systemUTC();

  private final ProviderPlatform platform;

  CredentialRows(ProviderPlatform platform) {
    this.platform = platform;
  }

  byte[] p12() {
    return p12(platform.simulators.authority().pushCertificate(ProviderPlatform.BUNDLE, "pw"));
  }

  /// @param file its password is "pw"
  static byte[] p12(byte[] file) {
    return bytes(
        "{\"p12\":\"" + Base64.getEncoder().encodeToString(file) + "\",\"password\":\"pw\"}");
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static ApnsKey.Issued key(String team, String id) {
    return ApnsKey.issue(team, id, List.of(ProviderPlatform.BUNDLE));
  }

  static String p8Detail(ApnsKey.Issued issued) {
    return "{\"team_id\":\"%s\",\"key_id\":\"%s\",\"bundle_id\":\"%s\"}"
        .formatted(issued.key().teamId(), issued.key().keyId(), ProviderPlatform.BUNDLE);
  }

  JdbcTemplate sql() {
    return new JdbcTemplate(platform.context.getBean(DataSource.class));
  }

  String asked(String app, String environment, ApnsKey.Issued issued) {
    insert(app, "apns", environment, "p8", "candidate", p8Detail(issued), bytes(issued.p8()));
    return verdict(app, environment);
  }

  /// Writes a row as the dashboard does: sealed for its row, and due for a probe when it is a
  /// candidate.
  void insert(
      String app,
      String provider,
      String environment,
      String kind,
      String rowState,
      String detail,
      byte[] secret) {
    JdbcTemplate sql = sql();
    boolean candidate = rowState.equals("candidate");
    sql.update(
        "INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by)"
            + " VALUES (?, ?, ?, ?, ?, ?, '', ?, 'test')",
        app,
        provider,
        environment,
        kind,
        rowState,
        detail,
        Timestamp.from(CLOCK.instant()));
    long id =
        sql.queryForObject(
            "SELECT MAX(id) FROM credentials WHERE app_id = ? AND provider = ? AND environment = ?",
            Long.class,
            app,
            provider,
            environment);
    sql.update(
        "UPDATE credentials SET secret = ?, probe_at = ? WHERE id = ?",
        platform
            .context
            .getBean(CredentialVault.class)
            .encrypt(new AppId(app), provider, environment, id, secret),
        candidate ? Timestamp.from(CLOCK.instant()) : null,
        id);
    tell(app);
  }

  void replace(
      String app, String provider, String kind, String detail, byte[] secret, Duration overlap) {
    insert(app, provider, "production", kind, "retired", detail, secret);
    sql()
        .update(
            "UPDATE credentials SET overlap_until = IF(state = 'active', ?, NULL),"
                + " state = IF(state = 'active', 'overlapping', 'active') WHERE app_id = ? AND state IN ('active', 'retired')",
            Timestamp.from(CLOCK.instant().plus(overlap)),
            app);
    tell(app);
  }

  private void tell(String app) {
    try (var connection = platform.context.getBean(DataSource.class).getConnection()) {
      ChangeFeed.record(connection, CLOCK, Change.Kind.CREDENTIAL, new AppId(app), "1");
    } catch (java.sql.SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  String verdict(String app, String environment) {
    StringBuilder found = new StringBuilder();
    Eventually.within(
        PATIENCE,
        () -> {
          Map<String, Object> row =
              sql()
                  .queryForMap(
                      "SELECT probe_verdict, probe_reason, probe_at FROM credentials WHERE app_id = ? AND environment = ?",
                      app,
                      environment);
          assertThat(row.get("probe_verdict")).isNotNull();
          found.setLength(0);
          found.append(row.get("probe_verdict")).append(' ').append(row.get("probe_reason"));
        });
    return found.toString();
  }
}
