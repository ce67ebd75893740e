package io.pushplanet.dashboard.page;

import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import java.util.Locale;
import org.mybatis.spring.boot.autoconfigure.ConfigurationCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class PageConfiguration {
  @Bean
  ConfigurationCustomizer idsAsColumns() {
    return configuration -> {
      var types = configuration.getTypeHandlerRegistry();
      types.register(AppId.class, new TextTypeHandler<>(AppId::new, AppId::value));
      types.register(DeviceId.class, new TextTypeHandler<>(DeviceId::new, DeviceId::value));
      types.register(MessageId.class, new TextTypeHandler<>(MessageId::new, MessageId::value));
      types.register(
          DeliveryState.class,
          new TextTypeHandler<>(
              word -> DeliveryState.valueOf(word.toUpperCase(Locale.ROOT)), DeliveryState::word));
    };
  }
}
