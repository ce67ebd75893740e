package io.pushplanet.dashboard.page;

import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ModelAttribute;

/// What the frame of every page shows.
@ControllerAdvice
final class PageAdvice {
  /// Who looks at the page. The buttons that a role may not use are not shown; the server refuses them anyway.
  public record Viewer(String name, boolean operator, boolean admin) {}

  @ModelAttribute("me")
  @Nullable Viewer me(@Nullable Authentication authentication) {
    if (authentication == null || !authentication.isAuthenticated()) {
      return null;
    }
    return new Viewer(
        authentication.getName(),
        holds(authentication, "ROLE_OPERATOR"),
        holds(authentication, "ROLE_ADMIN"));
  }

  private static boolean holds(Authentication authentication, String role) {
    return authentication.getAuthorities().stream()
        .anyMatch(authority -> role.equals(authority.getAuthority()));
  }
}
