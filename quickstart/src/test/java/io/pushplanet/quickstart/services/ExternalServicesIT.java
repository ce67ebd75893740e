package io.pushplanet.quickstart.services;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.quickstart.process.ProcessFailed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ExternalServicesIT {
  private final LocalServices services = LocalServices.forTests();

  @Test
  void a_refused_login_is_told_at_once() {
    MySqlAddress mysql = services.mysql();

    refused(
        MySqlAddress.of(mysql.jdbcUrl(), "a", "b"),
        "MySQL at 127.0.0.1:%d cannot be used: Access denied for user 'a'".formatted(mysql.port()));
  }

  @Test
  void a_server_that_is_not_there_is_told_at_once() {
    MySqlAddress nobody = MySqlAddress.local(Port.free());

    refused(nobody, "MySQL at 127.0.0.1:%d cannot be used: ".formatted(nobody.port()));
  }

  private void refused(MySqlAddress mysql, String told) {
    assertThatExceptionOfType(ProcessFailed.class)
        .isThrownBy(() -> LocalServices.external(mysql, services.redis(), services.amqp()))
        .withMessageStartingWith(told);
  }
}
