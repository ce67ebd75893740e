package io.pushplanet.dashboard.login;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;

/// The roles of operators. Each role may also do everything that the ones before it may do.
public enum Role {
  /// Sees all pages except the audit log, operators, encryption, a dead letter's body and the test
  /// push.
  VIEWER,
  /// Sends test pushes, cancels messages, manages credentials.
  OPERATOR,
  /// Makes apps, keys and operators, drains nodes, replays dead letters, changes the encryption
  /// key; reads the audit log.
  ADMIN;

  static Role parse(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }

  /// In the form in which it is stored: `admin`.
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
