package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpServer;
import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.access.CredentialUnreadable;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.quickstart.services.LocalServices;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoAppIT {
  private final LocalServices services = LocalServices.forTests();
  private final SecureRandom random = new SecureRandom();

  @TempDir private Path state;

  private record Stored(long id, String provider, String environment, byte[] secret, String key) {}

  @Test
  void its_credentials_are_sealed_for_their_rows_under_the_name_of_the_master_key()
      throws Exception {
    Secrets secrets = Secrets.make(state, random, false);
    CredentialVault vault = new CredentialVault(MasterKey.parse(secrets.masterKey()), random);

    ensured(secrets);
    List<Stored> stored = active();
    ensured(secrets);

    assertThat(stored)
        .extracting(one -> one.provider() + " " + one.environment())
        .containsExactlyInAnyOrder(
            "apns production",
            "apns sandbox",
            "fcm production",
            "hms production",
            "webpush production");
    assertThat(stored)
        .allSatisfy(one -> {
          assertThat(one.key()).isEqualTo(vault.currentKeyId());
          assertThat(opened(vault, one, one.id())).isNotEmpty();
          assertThatExceptionOfType(CredentialUnreadable.class)
              .isThrownBy(() -> opened(vault, one, one.id() + 1));
        });
    assertThat(active()).extracting(Stored::id).isEqualTo(ids(stored));
  }

  private static List<Long> ids(List<Stored> stored) {
    return stored.stream().map(Stored::id).toList();
  }

  private static byte[] opened(CredentialVault vault, Stored one, long row) {
    return vault.decrypt(DemoApp.ID, one.provider(), one.environment(), row, one.secret());
  }

  /// With simulators that issue every requested credential.
  private void ensured(Secrets secrets) throws Exception {
    HttpServer simulators =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    simulators.createContext(
        "/",
        exchange -> {
          byte[] issued = "{\"p8\":\"p\",\"client_secret\":\"c\"}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, issued.length);
          exchange.getResponseBody().write(issued);
          exchange.close();
        });
    simulators.start();
    try (Rest rest = new Rest("http://127.0.0.1:" + simulators.getAddress().getPort(), "")) {
      new DemoApp(services.mysql(), secrets, random, rest, Instant.parse("2026-11-22T12:00:00Z"))
          .ensure(ApiKey.parse(secrets.apiKey()).orElseThrow());
    } finally {
      simulators.stop(0);
    }
  }

  private List<Stored> active() throws Exception {
    List<Stored> stored = new ArrayList<>();
    try (Connection connection =
            DriverManager.getConnection(
                services.mysql().jdbcUrl(), services.mysql().user(), services.mysql().password());
        ResultSet rows =
            connection
                .createStatement()
                .executeQuery(
                    "SELECT id, provider, environment, secret, COALESCE(key_id, '') FROM credentials"
                        + " WHERE app_id = 'demo' AND state = 'active' ORDER BY id")) {
      while (rows.next()) {
        stored.add(
            new Stored(
                rows.getLong(1),
                rows.getString(2),
                rows.getString(3),
                rows.getBytes(4),
                rows.getString(5)));
      }
    }
    return stored;
  }
}
