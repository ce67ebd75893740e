package io.pushplanet.quickstart.platform;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.access.CredentialUnreadable;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.access.Scope;
import io.pushplanet.common.message.AppId;
import io.pushplanet.quickstart.services.MySqlAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// The app `demo` with an API key and with credentials that the simulators accept.
final class DemoApp {
  static final AppId ID = new AppId("demo");
  static final String BUNDLE_ID = "io.pushplanet.demo";
  static final String FCM_PROJECT = "pushplanet-demo";
  static final String HMS_CLIENT = "100000001";
  private static final int POINT_BYTES = 65;
  private static final JsonMapper JSON = JsonMapper.shared();

  private final MySqlAddress mysql;
  private final CredentialVault vault;
  private final Rest simulators;
  private final Instant now;

  DemoApp(MySqlAddress mysql, Secrets secrets, SecureRandom random, Rest simulators, Instant now) {
    this.mysql = mysql;
    this.vault = new CredentialVault(MasterKey.parse(secrets.masterKey()), random);
    this.simulators = simulators;
    this.now = now;
  }

  /// Adds missing parts; a second start finds everything. Credentials that the user has replaced
  /// stay. Credentials that another master key has encrypted (external servers with a fresh state
  /// directory) cannot be decrypted here, and are replaced.
  void ensure(ApiKey key) {
    try (Connection connection =
        DriverManager.getConnection(mysql.jdbcUrl(), mysql.user(), mysql.password())) {
      connection.setAutoCommit(false);
      update(
          connection,
          "INSERT IGNORE INTO apps (id, name, created_at) VALUES (?, ?, ?)",
          ID.value(),
          "Demo",
          now());
      update(
          connection,
          "INSERT IGNORE INTO api_keys (id, app_id, name, hash, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)",
          key.id(),
          ID.value(),
          "quickstart",
          key.hash(),
          Scope.format(EnumSet.allOf(Scope.class)),
          now());
      for (String environment : List.of("production", "sandbox")) {
        if (!hasCredential(connection, "apns", environment)) {
          addApnsKey(connection, environment);
        }
      }
      if (!hasCredential(connection, "fcm", "production")) {
        addFcmAccount(connection);
      }
      if (!hasCredential(connection, "hms", "production")) {
        addHmsClient(connection);
      }
      if (!hasCredential(connection, "webpush", "production")) {
        addVapidKey(connection);
      }
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException(
          "the demo app cannot be stored in " + mysql + ": " + e.getMessage(), e);
    }
  }

  private void addApnsKey(Connection connection, String environment) throws SQLException {
    JsonNode issued =
        simulators.post(
            "/apns/keys",
            JSON.createObjectNode().set("topics", JSON.createArrayNode().add(BUNDLE_ID)));
    ObjectNode detail =
        JSON.createObjectNode()
            .put("team_id", issued.path("team_id").asString())
            .put("key_id", issued.path("key_id").asString())
            .put("bundle_id", BUNDLE_ID);
    add(connection, "apns", environment, "p8", detail, issued.path("p8").asString());
  }

  private void addFcmAccount(Connection connection) throws SQLException {
    JsonNode account =
        simulators.post(
            "/fcm/service-accounts", JSON.createObjectNode().put("project_id", FCM_PROJECT));
    ObjectNode detail =
        JSON.createObjectNode()
            .put("project_id", account.path("project_id").asString())
            .put("client_email", account.path("client_email").asString())
            .put("private_key_id", account.path("private_key_id").asString());
    add(connection, "fcm", "production", "service_account", detail, account.toString());
  }

  private void addHmsClient(Connection connection) throws SQLException {
    JsonNode issued =
        simulators.post("/hms/clients", JSON.createObjectNode().put("client_id", HMS_CLIENT));
    ObjectNode detail = JSON.createObjectNode().put("client_id", HMS_CLIENT);
    add(
        connection,
        "hms",
        "production",
        "client_secret",
        detail,
        issued.path("client_secret").asString());
  }

  private void addVapidKey(Connection connection) throws SQLException {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair pair = generator.generateKeyPair();
      // The encoding of an X.509 key on P-256 ends with its point.
      byte[] encoded = pair.getPublic().getEncoded();
      byte[] point = Arrays.copyOfRange(encoded, encoded.length - POINT_BYTES, encoded.length);
      ObjectNode detail =
          JSON.createObjectNode()
              .put("public_key", Base64.getUrlEncoder().withoutPadding().encodeToString(point))
              .put("subject", "mailto:demo@example.com");
      String pem =
          "-----BEGIN PRIVATE KEY-----\n"
              + Base64.getMimeEncoder().encodeToString(pair.getPrivate().getEncoded())
              + "\n-----END PRIVATE KEY-----\n";
      add(connection, "webpush", "production", "vapid", detail, pem);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no P-256", e);
    }
  }

  private void add(
      Connection connection,
      String provider,
      String environment,
      String kind,
      ObjectNode detail,
      String secret)
      throws SQLException {
    // The secret is written after the row, because it is encrypted for the row's id.
    long row =
        inserted(
            connection,
            """
            INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by)
            VALUES (?, ?, ?, ?, 'active', ?, '', ?, 'quickstart')
            """,
            ID.value(),
            provider,
            environment,
            kind,
            detail.toString(),
            now());
    update(
        connection,
        "UPDATE credentials SET secret = ?, key_id = ? WHERE id = ?",
        vault.encrypt(ID, provider, environment, row, secret.getBytes(StandardCharsets.UTF_8)),
        vault.currentKeyId(),
        row);
  }

  private boolean hasCredential(Connection connection, String provider, String environment)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT id, secret FROM credentials WHERE app_id = ? AND provider = ? AND environment = ? AND state = 'active'")) {
      statement.setString(1, ID.value());
      statement.setString(2, provider);
      statement.setString(3, environment);
      try (ResultSet active = statement.executeQuery()) {
        if (!active.next()) {
          return false;
        }
        if (opens(provider, environment, active.getLong("id"), active.getBytes("secret"))) {
          return true;
        }
        update(
            connection,
            "UPDATE credentials SET state = 'retired' WHERE id = ?",
            active.getLong("id"));
        return false;
      }
    }
  }

  private boolean opens(String provider, String environment, long row, byte[] secret) {
    try {
      vault.decrypt(ID, provider, environment, row, secret);
      return true;
    } catch (CredentialUnreadable sealedByAnotherKey) {
      return false;
    }
  }

  private Timestamp now() {
    return Timestamp.from(now);
  }

  private static void update(Connection connection, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      execute(statement, values);
    }
  }

  /// @return the id of the new row
  private static long inserted(Connection connection, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
      execute(statement, values);
      try (ResultSet keys = statement.getGeneratedKeys()) {
        keys.next();
        return keys.getLong(1);
      }
    }
  }

  private static void execute(PreparedStatement statement, Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    statement.executeUpdate();
  }
}
