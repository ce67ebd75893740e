package io.pushplanet.dispatcher.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class DispatcherSettingsTest {
  private static DispatcherSettings bind(Map<String, String> properties) {
    return new Binder(new MapConfigurationPropertySource(properties))
        .bindOrCreate(
            "dispatcher",
            Bindable.of(DispatcherSettings.class),
            new NoUnboundElementsBindHandler());
  }

  @Test
  void the_defaults_are_these() {
    assertThat(bind(Map.of()))
        .isEqualTo(
            new DispatcherSettings(
                "127.0.0.1",
                1883,
                8883,
                Duration.ofDays(90),
                Duration.ofHours(12),
                Duration.ofSeconds(5),
                Duration.ofMillis(500),
                0));
  }

  @Test
  void a_misspelt_setting_is_refused() {
    assertThatThrownBy(() -> bind(Map.of("dispatcher.mqtt-hots", "h")))
        .isInstanceOf(BindException.class);
  }
}
