package io.pushplanet.gateway.role;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

final class OnRole implements Condition {
  @Override
  public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
    Set<Role> mine = roles(context.getEnvironment());
    return metadata.getAnnotations().stream(ForRole.class)
        .flatMap(annotation -> Arrays.stream(annotation.getEnumArray("value", Role.class)))
        .anyMatch(mine::contains);
  }

  /// An unknown role stops the start.
  static Set<Role> roles(Environment environment) {
    return Binder.get(environment)
        .bind("gateway.roles", Bindable.setOf(Role.class))
        .orElseGet(() -> EnumSet.allOf(Role.class));
  }
}
