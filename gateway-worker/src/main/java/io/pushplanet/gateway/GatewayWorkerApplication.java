package io.pushplanet.gateway;

import io.pushplanet.common.settings.PlatformConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/// The gateway worker. `gateway.roles` says which tasks this process does; Tomcat serves only
/// health and metrics.
@SpringBootApplication(proxyBeanMethods = false)
@Import(PlatformConfiguration.class)
public class GatewayWorkerApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(GatewayWorkerApplication.class, arguments);
  }
}
