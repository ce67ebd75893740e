package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProgramTest {

  @ParameterizedTest
  @CsvSource({
    "pushplanet.mysql.url, PUSHPLANET_MYSQL_URL",
    "pushplanet.master-key, PUSHPLANET_MASTERKEY",
    "gateway.alerts.mail.to[0], GATEWAY_ALERTS_MAIL_TO_0",
    "gateway.apns.production-endpoint, GATEWAY_APNS_PRODUCTIONENDPOINT"
  })
  void a_property_becomes_the_variable_that_spring_boot_looks_for(
      String property, String variable) {
    assertThat(Program.variable(property)).isEqualTo(variable);
  }
}
