package io.pushplanet.dispatcher.device;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential;
import java.time.Clock;
import org.apache.tomcat.util.buf.EncodedSolidusHandling;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class DeviceConfiguration {
  /// A tag is any text, and a path is where one stands that comes or goes alone. Tomcat only leaves the two as they are: Spring
  /// splits the path before it decodes its parts, so that they end none.
  @Bean
  WebServerFactoryCustomizer<TomcatServletWebServerFactory> slashesInTags() {
    return factory ->
        factory.addConnectorCustomizers(connector -> {
          connector.setEncodedSolidusHandling(EncodedSolidusHandling.PASS_THROUGH.getValue());
          connector.setEncodedReverseSolidusHandling(
              EncodedSolidusHandling.PASS_THROUGH.getValue());
        });
  }

  @Bean
  DeviceCredential deviceCredential(MasterKey masterKey, Clock clock) {
    return new DeviceCredential(masterKey, clock);
  }
}
