package io.pushplanet.gateway.role;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/// Stops the start when a group of settings below `gateway.` is misspelt; inside a group its settings record does it.
@Component
final class KnownSettings {
  static final Set<String> GROUPS =
      Set.of("roles", "delivery", "node", "apns", "fcm", "statistics", "later", "fanout");

  KnownSettings(Environment environment) {
    Map<String, Object> given =
        Binder.get(environment)
            .bind("gateway", Bindable.mapOf(String.class, Object.class))
            .orElseGet(Map::of);
    Set<String> unknown = new TreeSet<>(given.keySet());
    unknown.removeIf(name -> {
      int end = name.indexOf('.');
      int list = name.indexOf('[');
      String group = list > 0 ? name.substring(0, list) : end > 0 ? name.substring(0, end) : name;
      return GROUPS.contains(group);
    });
    if (!unknown.isEmpty()) {
      throw new IllegalStateException(
          "unknown settings gateway." + unknown + "; known are gateway." + new TreeSet<>(GROUPS));
    }
  }
}
