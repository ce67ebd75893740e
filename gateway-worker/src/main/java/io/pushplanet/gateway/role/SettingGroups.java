package io.pushplanet.gateway.role;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.stereotype.Component;

/// Stops the start when a group of settings below `gateway.` is misspelt. Inside a group its
/// settings record does that.
///
/// Environment variables are left out, as Spring Boot leaves them out for the records, because
/// other programs set some with this prefix. Kubernetes makes `GATEWAY_WORKER_PORT` for a service
/// `gateway-worker`
/// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
@Component
final class SettingGroups {
  static final Set<String> GROUPS =
      Set.of(
          "roles",
          "delivery",
          "node",
          "apns",
          "fcm",
          "hms",
          "webpush",
          "statistics",
          "later",
          "fanout",
          "credentials",
          "alerts");

  SettingGroups(ConfigurableEnvironment environment) {
    List<PropertySource<?>> sources =
        environment.getPropertySources().stream()
            .filter(source -> !(source instanceof SystemEnvironmentPropertySource))
            .toList();
    Map<String, Object> given =
        new Binder(ConfigurationPropertySources.from(sources))
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
          "unknown settings: gateway."
              + String.join(", gateway.", unknown)
              + ". The groups are: "
              + String.join(", ", new TreeSet<>(GROUPS)));
    }
  }
}
