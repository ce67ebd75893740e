package io.pushplanet.cm;

import io.pushplanet.common.settings.PlatformConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/// Starts one connection manager. Its way of a message begins in [ConnectionPipeline].
@SpringBootApplication
@Import(PlatformConfiguration.class)
public class ConnectionManagerApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(ConnectionManagerApplication.class, arguments);
  }
}
