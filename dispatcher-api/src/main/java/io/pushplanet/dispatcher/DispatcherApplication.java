package io.pushplanet.dispatcher;

import io.pushplanet.common.settings.PlatformConfiguration;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Import;

/// Starts the dispatcher. The story of a message begins in [io.pushplanet.dispatcher.push.PushDispatch].
@SpringBootApplication(proxyBeanMethods = false)
@Import(PlatformConfiguration.class)
@EnableConfigurationProperties(DispatcherSettings.class)
public class DispatcherApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(DispatcherApplication.class, arguments);
  }
}
