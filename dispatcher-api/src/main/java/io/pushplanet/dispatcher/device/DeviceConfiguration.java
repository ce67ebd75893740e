package io.pushplanet.dispatcher.device;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class DeviceConfiguration {
  @Bean
  DeviceCredential deviceCredential(MasterKey masterKey, Clock clock) {
    return new DeviceCredential(masterKey, clock);
  }
}
