package io.pushplanet.gateway.fcm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.alert.Alerts;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.AbstractDataSource;

class RestingPlatformsTest {
  private static final AppId SHOP = new AppId("shop");

  private final MutableClock clock = MutableClock.started();
  private final RestingPlatforms platforms =
      new RestingPlatforms(new Alerts(new Away(), clock, new SimpleMeterRegistry()), clock);

  /// The alert cannot be written, which stops nothing.
  private static final class Away extends AbstractDataSource {
    @Override
    public Connection getConnection() throws SQLException {
      throw new SQLException("away");
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      return getConnection();
    }
  }

  @Test
  void only_the_platform_that_is_refused_rests_and_only_in_this_app() {
    refused(RestingPlatforms.FEWEST);

    assertThat(platforms.rests(SHOP, Platform.IOS)).isTrue();
    assertThat(platforms.rests(SHOP, Platform.WEB)).isFalse();
    assertThat(platforms.rests(new AppId("bank"), Platform.IOS)).isFalse();
  }

  @Test
  void some_devices_among_others_that_are_sent_to_are_their_own_fault() {
    for (int i = 0; i < 100; i++) {
      refused(RestingPlatforms.FEWEST - 1);
      platforms.taken(SHOP, Platform.IOS);
    }

    assertThat(platforms.rests(SHOP, Platform.IOS)).isFalse();
  }

  @Test
  void after_a_rest_one_refusal_is_enough_for_the_next() {
    refused(RestingPlatforms.FEWEST);
    clock.advance(RestingPlatforms.REST);
    assertThat(platforms.rests(SHOP, Platform.IOS)).isFalse();

    refused(1);

    assertThat(platforms.rests(SHOP, Platform.IOS)).isTrue();
  }

  @Test
  void a_message_that_is_taken_ends_the_rest() {
    refused(RestingPlatforms.FEWEST);

    platforms.taken(SHOP, Platform.IOS);

    assertThat(platforms.rests(SHOP, Platform.IOS)).isFalse();
  }

  private void refused(int times) {
    for (int i = 0; i < times; i++) {
      platforms.refused(SHOP, Platform.IOS, "THIRD_PARTY_AUTH_ERROR");
    }
  }
}
