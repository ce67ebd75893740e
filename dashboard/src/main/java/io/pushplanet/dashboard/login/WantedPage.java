package io.pushplanet.dashboard.login;

import jakarta.servlet.http.HttpServletRequest;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.springframework.http.HttpMethod;

/// The page to show after the login. It is part of the address of the login page,
/// `/login?to=/messages`, because before the login there is no session that could keep it.
///
/// @param path a path of this site with its query; never another site
record WantedPage(String path) {
  private static final String PARAMETER = "to";

  /// A longer path is not kept.
  private static final int LONGEST = 1_000;

  WantedPage {
    if (!isOurs(path)) {
      throw new IllegalArgumentException("not a path of ours");
    }
  }

  /// The page that was requested, and needs a login.
  static Optional<WantedPage> of(HttpServletRequest request) {
    if (!HttpMethod.GET.matches(request.getMethod())) {
      return Optional.empty();
    }
    String path = request.getRequestURI().substring(request.getContextPath().length());
    String query = request.getQueryString();
    return of(query == null ? path : path + "?" + query).filter(page -> !page.path.equals("/"));
  }

  /// The page that the address or the form of the login page names.
  static Optional<WantedPage> toldTo(HttpServletRequest login) {
    String path = login.getParameter(PARAMETER);
    return path == null ? Optional.empty() : of(path);
  }

  private static Optional<WantedPage> of(String path) {
    return isOurs(path) ? Optional.of(new WantedPage(path)) : Optional.empty();
  }

  /// Browsers treat `//host` and `/\host` as another site, and skip tabs and line ends.
  private static boolean isOurs(String path) {
    return path.length() <= LONGEST
        && path.startsWith("/")
        && !path.startsWith("//")
        && path.chars().allMatch(letter -> letter > ' ' && letter <= '~' && letter != '\\');
  }

  String parameter() {
    return PARAMETER + "=" + URLEncoder.encode(path, StandardCharsets.UTF_8);
  }
}
