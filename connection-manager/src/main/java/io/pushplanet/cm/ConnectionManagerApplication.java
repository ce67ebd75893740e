package io.pushplanet.cm;

import io.pushplanet.common.settings.PlatformConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;

/// Starts one connection manager. Read on in [ConnectionPipeline].
@SpringBootApplication
@Import(PlatformConfiguration.class)
public class ConnectionManagerApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(ConnectionManagerApplication.class, arguments);
  }
}
