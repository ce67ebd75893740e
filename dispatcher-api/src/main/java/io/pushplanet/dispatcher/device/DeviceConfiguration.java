package io.pushplanet.dispatcher.device;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.settings.PlatformSettings;
import java.time.Clock;
import org.apache.tomcat.util.buf.EncodedSolidusHandling;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

@Configuration(proxyBeanMethods = false)
class DeviceConfiguration {
  /// A tag is any text, and the operations that add or remove one tag have it in their path. Tomcat
  /// only leaves encoded slashes and backslashes as they are: Spring splits the path before it
  /// decodes its parts, so that neither ends a part.
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

  @Bean
  Collisions collisions(PlatformTransactionManager transactions, PlatformSettings settings) {
    TransactionTemplate template = new TransactionTemplate(transactions);
    // Under REPEATABLE READ, locking a device that has no row yet locks the gap that its row will
    // fill, and two first registrations next to each other would deadlock again and again.
    template.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    return new Collisions(template, settings.mysql().poolSize());
  }
}
