package io.pushplanet.gateway;

import io.pushplanet.common.settings.PlatformConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/// The gateway worker. `gateway.roles` says which of its tasks this process does; Tomcat serves health and metrics only.
@SpringBootApplication(proxyBeanMethods = false)
@Import(PlatformConfiguration.class)
public class GatewayWorkerApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(GatewayWorkerApplication.class, arguments);
  }
}
