package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.simulators.apns.ApnsKey;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;

/// An app's keys or environments are swapped: every token looks dead or refused, and none of them
/// is. With `-Dswapped.devices=100000` for the full size.
class SwappedKeysIT {
  private static final int DEVICES = Integer.getInteger("swapped.devices", 500);
  private static final int PER_MESSAGE = 100;
  private static final Clock CLOCK = Clock.systemUTC();

  @TempDir static Path state;
  private static ProviderPlatform platform;
  private static ProviderWorker delivery;

  @BeforeAll
  static void start() throws Exception {
    platform = ProviderPlatform.start(state, true);
    delivery = new ProviderWorker(platform, CLOCK, Channel.APNS);
  }

  @AfterAll
  static void stop() {
    delivery.close();
  }

  /// The key is good for both environments, but the app's builds register with the wrong one: APNs
  /// calls each token bad.
  @Test
  void tokens_of_the_other_environment_are_all_kept_and_operators_are_told() {
    Instant swappedAt = CLOCK.instant();
    ApnsKey.Issued both =
        ApnsKey.issue("SWAPPED001", "BOTHENVIR1", List.of(ProviderPlatform.BUNDLE));
    platform.uploadKey("swapped", both, "production");
    platform.uploadKey("swapped", both, "sandbox");

    broadcast("swapped");

    assertThat(dead("swapped")).isZero();
    assertThat(toldAt("swapped"))
        .isNotEmpty()
        .allSatisfy(
            at -> assertThat(Duration.between(swappedAt, at)).isLessThan(Duration.ofMinutes(1)));
  }

  /// Since 2025 a key may be good for one environment only: APNs refuses the key, and the messages
  /// wait.
  @Test
  void swapped_keys_cost_no_token_and_raise_an_alert() {
    Instant swappedAt = CLOCK.instant();
    ApnsKey.Issued sandbox =
        ApnsKey.issue("SWAPPED002", "SANDBOXKEY", List.of(ProviderPlatform.BUNDLE));
    platform
        .simulators
        .apnsDirectory()
        .register(
            new ApnsKey(
                sandbox.key().teamId(),
                sandbox.key().keyId(),
                sandbox.key().publicKeyPem(),
                sandbox.key().topics(),
                "sandbox"));
    platform.uploadUnknownKey("keyswap", sandbox, "production");

    broadcast("keyswap");

    assertThat(dead("keyswap")).isZero();
    assertThat(toldAt("keyswap"))
        .isNotEmpty()
        .allSatisfy(
            at -> assertThat(Duration.between(swappedAt, at)).isLessThan(Duration.ofMinutes(1)));
    assertThat(
            sql().queryForObject("SELECT COUNT(*) FROM later WHERE app_id = 'keyswap'", Long.class))
        .as("messages that wait for the right key")
        .isEqualTo(DEVICES);
  }

  private static void broadcast(String app) {
    List<Object[]> rows = new ArrayList<>();
    for (int i = 0; i < DEVICES; i++) {
      rows.add(
          new Object[] {
            app, "d" + i, token(i), Timestamp.from(CLOCK.instant().minus(Duration.ofDays(1)))
          });
    }
    sql()
        .batchUpdate(
            "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at)"
                + " VALUES (?, ?, 'apns', ?, 'token', 'production', ?)",
            rows);
    for (int from = 0; from < DEVICES; from += PER_MESSAGE) {
      PushBuilder push = aPush(CLOCK).from(app);
      for (int i = from; i < from + PER_MESSAGE; i++) {
        push = push.toApns("d" + i, token(i));
      }
      delivery.deliver(Channel.APNS, push.build());
    }
  }

  private static String token(int device) {
    return "%064x".formatted(0xc00000 + device);
  }

  private static long dead(String app) {
    return sql()
        .queryForObject(
            "SELECT COUNT(*) FROM channel_tokens WHERE app_id = ? AND dead_at IS NOT NULL",
            Long.class,
            app);
  }

  private static List<Instant> toldAt(String app) {
    return sql()
        .queryForList("SELECT at FROM alerts WHERE app_id = ?", Timestamp.class, app)
        .stream()
        .map(Timestamp::toInstant)
        .toList();
  }

  private static JdbcTemplate sql() {
    return delivery.servers.sql();
  }
}
