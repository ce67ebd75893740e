package io.pushplanet.dashboard.login;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;

/// What an operator may do. Each role may do what the ones before it may.
public enum Role {
  /// Looks at everything but the audit log.
  VIEWER,
  /// Sends test pushes and uploads credentials.
  OPERATOR,
  /// Makes apps, keys and operators; reads the audit log.
  ADMIN;

  static Role parse(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  /// As it is stored: `admin`.
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  List<GrantedAuthority> authorities() {
    return Arrays.stream(values())
        .filter(role -> role.ordinal() <= ordinal())
        .<GrantedAuthority>map(role -> new SimpleGrantedAuthority("ROLE_" + role.name()))
        .toList();
  }
}
