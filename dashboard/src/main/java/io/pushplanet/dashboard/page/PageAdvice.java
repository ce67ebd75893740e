package io.pushplanet.dashboard.page;

import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ModelAttribute;

/// The data for the frame of every page.
@ControllerAdvice
final class PageAdvice {
  /// The operator who looks at the page. Buttons that the role may not use are hidden; the server
  /// refuses their requests anyway.
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
