package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialLookup.Found;
import io.pushplanet.gateway.credential.CredentialLookup.Unreadable;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.tls.Authority;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;

/// A thousand tenants, each with a key, a team and a topic of its own: none is ever given another
/// tenant's key. [ThousandSendersIT] shows the same of what they send.
class ThousandTenantsIT {
  private static final int TENANTS = 1_000;
  private static final int LOOKUPS = 20_000;
  private static final long FIRST_ROW = 5_000_000;
  private static final long FIRST_MOVED_ROW = 6_000_000;
  private static final Clock CLOCK = Clock.systemUTC();
  private static final List<ApnsKey.Issued> KEYS = new ArrayList<>();

  @TempDir static Path state;
  private static ProviderPlatform platform;

  @BeforeAll
  static void start() {
    for (int i = 0; i < TENANTS; i++) {
      KEYS.add(ApnsKey.issue("TEAM%06d".formatted(i), "KEY%07d".formatted(i), List.of(topic(i))));
    }
    platform = ProviderPlatform.start(state);
    upload();
  }

  @AfterAll
  static void stop() {
    platform.close();
  }

  /// Many threads look up at random while the credentials change under them.
  @Test
  void each_tenant_finds_its_own_key_only() throws Exception {
    CredentialCache credentials = platform.context.getBean(CredentialCache.class);
    List<Future<Void>> searches = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      for (int thread = 0; thread < 8; thread++) {
        SplittableRandom dice = new SplittableRandom(thread);
        boolean changes = thread == 0;
        searches.add(
            threads.submit(() -> {
              for (int i = 0; i < LOOKUPS / 8; i++) {
                int tenant = dice.nextInt(TENANTS);
                if (changes && i % 25 == 0) {
                  tellOfAChange(tenant);
                }
                assertThat(credentials.apns(new AppId(app(tenant)), "production"))
                    .isInstanceOfSatisfying(Found.class, found -> isOf(tenant, found));
              }
              return null;
            }));
      }
      for (Future<Void> one : searches) {
        one.get();
      }
    }
    for (int tenant = 0; tenant < TENANTS; tenant++) {
      assertThat(
              credentials.apns(new AppId(app(tenant)), "production")
                      instanceof Found<Credential.Apns>(Credential.ApnsKey key, _)
                  && signsAs(tenant, key))
          .isTrue();
    }
  }

  /// An attacker who can write to the database gives each tenant its neighbour's sealed key.
  @Test
  void a_sealed_key_that_was_moved_to_another_tenant_opens_for_none() {
    JdbcTemplate sql = sql();
    sql.update(
        "INSERT INTO credentials (id, app_id, provider, environment, kind, state, detail, secret, created_at, created_by)"
            + " SELECT mine.id + ?, CONCAT('moved-', mine.app_id), mine.provider, mine.environment, mine.kind, mine.state,"
            + " other.detail, other.secret, mine.created_at, mine.created_by FROM credentials mine JOIN credentials other"
            + " ON other.id = ? + MOD(mine.id - ? + 1, ?) WHERE mine.id >= ? AND mine.id < ?",
        FIRST_MOVED_ROW - FIRST_ROW,
        FIRST_ROW,
        FIRST_ROW,
        TENANTS,
        FIRST_ROW,
        FIRST_ROW + TENANTS);
    CredentialCache credentials = platform.context.getBean(CredentialCache.class);

    for (int tenant = 0; tenant < TENANTS; tenant++) {
      assertThat(credentials.apns(new AppId("moved-" + app(tenant)), "production"))
          .isInstanceOf(Unreadable.class);
    }
  }

  private static void isOf(int tenant, Found<?> found) {
    assertThat(found.credential())
        .isInstanceOfSatisfying(
            Credential.ApnsKey.class,
            key -> {
              assertThat(key.teamId()).isEqualTo(KEYS.get(tenant).key().teamId());
              assertThat(key.keyId()).isEqualTo(KEYS.get(tenant).key().keyId());
              assertThat(key.bundleId()).isEqualTo(topic(tenant));
            });
  }

  private static boolean signsAs(int tenant, Credential.ApnsKey key)
      throws GeneralSecurityException {
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(key.key());
    signature.update((byte) 1);
    byte[] signed = signature.sign();
    signature.initVerify(
        KeyFactory.getInstance("EC")
            .generatePublic(
                new X509EncodedKeySpec(
                    Authority.Pem.decode(KEYS.get(tenant).key().publicKeyPem()))));
    signature.update((byte) 1);
    return signature.verify(signed);
  }

  private static void tellOfAChange(int tenant) throws SQLException {
    try (Connection connection = platform.context.getBean(DataSource.class).getConnection()) {
      ChangeFeed.record(
          connection, CLOCK, Change.Kind.CREDENTIAL, new AppId(app(tenant)), "changed");
    }
  }

  private static void upload() {
    CredentialVault vault = platform.context.getBean(CredentialVault.class);
    List<Object[]> rows = new ArrayList<>();
    for (int i = 0; i < TENANTS; i++) {
      ApnsKey key = KEYS.get(i).key();
      rows.add(
          new Object[] {
            FIRST_ROW + i,
            app(i),
            "{\"team_id\":\"%s\",\"key_id\":\"%s\",\"bundle_id\":\"%s\"}"
                .formatted(key.teamId(), key.keyId(), topic(i)),
            vault.encrypt(
                new AppId(app(i)),
                "apns",
                "production",
                FIRST_ROW + i,
                KEYS.get(i).p8().getBytes(StandardCharsets.UTF_8)),
            Timestamp.from(CLOCK.instant())
          });
    }
    sql()
        .batchUpdate(
            "INSERT INTO credentials (id, app_id, provider, environment, kind, state, detail, secret, created_at, created_by)"
                + " VALUES (?, ?, 'apns', 'production', 'p8', 'active', ?, ?, ?, 'test')",
            rows);
  }

  private static JdbcTemplate sql() {
    return new JdbcTemplate(platform.context.getBean(DataSource.class));
  }

  private static String app(int tenant) {
    return "tenant-" + tenant;
  }

  private static String topic(int tenant) {
    return "com.example.tenant" + tenant;
  }
}
