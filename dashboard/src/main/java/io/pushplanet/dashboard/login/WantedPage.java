package io.pushplanet.dashboard.login;

import jakarta.servlet.http.HttpServletRequest;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.springframework.http.HttpMethod;

/// The page to show after the login. It stands in the login's address, `/login?to=/messages`, for who has not logged in has no
/// session to keep it in.
///
/// @param path of ours, with its query; never another site's
record WantedPage(String path) {
  private static final String PARAMETER = "to";

  /// A longer one is not come back to.
  private static final int LONGEST = 1_000;

  WantedPage {
    if (!isOurs(path)) {
      throw new IllegalArgumentException("not a path of ours");
    }
  }

  /// What was asked for, and needs a login.
  static Optional<WantedPage> of(HttpServletRequest request) {
    if (!HttpMethod.GET.matches(request.getMethod())) {
      return Optional.empty();
    }
    String path = request.getRequestURI().substring(request.getContextPath().length());
    String query = request.getQueryString();
    return of(query == null ? path : path + "?" + query).filter(page -> !page.path.equals("/"));
  }

  /// What the login's address or form names.
  static Optional<WantedPage> toldTo(HttpServletRequest login) {
    String path = login.getParameter(PARAMETER);
    return path == null ? Optional.empty() : of(path);
  }

  private static Optional<WantedPage> of(String path) {
    return isOurs(path) ? Optional.of(new WantedPage(path)) : Optional.empty();
  }

  /// Browsers read `//host` and `/\host` as another site's, and skip tabs and line ends.
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
