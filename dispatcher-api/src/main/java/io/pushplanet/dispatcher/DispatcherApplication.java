package io.pushplanet.dispatcher;

import io.pushplanet.common.settings.PlatformConfiguration;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.webmvc.autoconfigure.WebMvcObservationAutoConfiguration;
import org.springframework.context.annotation.Import;

/// Starts the dispatcher. The way of a message begins in
/// [io.pushplanet.dispatcher.push.PushDispatch].
// health.RequestTimes measures requests instead.
@SpringBootApplication(proxyBeanMethods = false, exclude = WebMvcObservationAutoConfiguration.class)
@Import(PlatformConfiguration.class)
@EnableConfigurationProperties(DispatcherSettings.class)
public class DispatcherApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(DispatcherApplication.class, arguments);
  }
}
