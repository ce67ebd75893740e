package io.pushplanet.gateway;

import io.pushplanet.common.testing.MetersTable;
import io.pushplanet.quickstart.services.LocalServices;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;

class MetersIT {
  private final LocalServices services = LocalServices.forTests();

  @Test
  void a_worker_with_all_roles_shows_only_meters_that_the_page_names() {
    try (var worker =
        SpringApplication.run(
            GatewayWorkerApplication.class,
            "--server.port=0",
            "--pushplanet.mysql.url=" + services.mysql().jdbcUrl(),
            "--pushplanet.mysql.user=" + services.mysql().user(),
            "--pushplanet.mysql.password=" + services.mysql().password(),
            "--pushplanet.redis.uri=" + services.redis(),
            "--pushplanet.amqp.uri=" + services.amqp(),
            "--pushplanet.master-key=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
            "--gateway.node.password=only-for-tests")) {
      int port = worker.getEnvironment().getRequiredProperty("local.server.port", Integer.class);

      MetersTable.mustName(port, "common", "gateway-worker");
    }
  }
}
