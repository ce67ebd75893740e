package io.pushplanet.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// An operator without a browser, for tests of the plain answers.
final class HttpOperator {
  private static final Pattern CSRF = Pattern.compile("name=\"_csrf\" value=\"([^\"]+)\"");

  private final CookieManager cookies = new CookieManager();
  private final HttpClient http =
      HttpClient.newBuilder().cookieHandler(cookies).connectTimeout(Duration.ofSeconds(60)).build();
  private final String address;

  HttpOperator(String address) {
    this.address = address;
  }

  static HttpOperator loggedIn(RunningDashboard dashboard, String name, String password)
      throws Exception {
    HttpOperator operator = new HttpOperator(dashboard.address());
    operator.login(name, password);
    return operator;
  }

  HttpResponse<String> login(String name, String password) throws Exception {
    return post("/login", "/login", "username", name, "password", password);
  }

  HttpResponse<String> get(String path) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(address + path)).GET());
  }

  /// Asks for a part of a page, as a page that refreshes itself does.
  HttpResponse<String> refresh(String path) throws Exception {
    return send(
        HttpRequest.newBuilder(URI.create(address + path)).header("HX-Request", "true").GET());
  }

  /// Posts a form like the page `form` would, with its CSRF token.
  HttpResponse<String> post(String form, String path, String... fields) throws Exception {
    StringBuilder body = new StringBuilder("_csrf=" + encode(csrf(form)));
    for (int i = 0; i < fields.length; i += 2) {
      body.append('&').append(fields[i]).append('=').append(encode(fields[i + 1]));
    }
    return send(
        HttpRequest.newBuilder(URI.create(address + path))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(body.toString())));
  }

  HttpResponse<String> postWithoutToken(String path) throws Exception {
    return send(HttpRequest.newBuilder(URI.create(address + path)).POST(BodyPublishers.noBody()));
  }

  HttpResponse<String> upload(String path, BodyPublisher body) throws Exception {
    return send(
        HttpRequest.newBuilder(URI.create(address + path))
            .header("Content-Type", "multipart/form-data; boundary=b")
            .POST(body));
  }

  String csrf(String page) throws Exception {
    Matcher token = CSRF.matcher(get(page).body());
    if (!token.find()) {
      throw new AssertionError("no CSRF token on " + page);
    }
    return token.group(1);
  }

  String cookie(String name) {
    return cookies.getCookieStore().getCookies().stream()
        .filter(cookie -> cookie.getName().equals(name))
        .findFirst()
        .orElseThrow()
        .getValue();
  }

  /// Plants a cookie, as an attacker who controls a neighbouring host can.
  void plantCookie(String name, String value) throws IOException {
    cookies.put(
        URI.create(address),
        Map.of("Set-Cookie", List.of(name + "=" + value + "; Path=/; HttpOnly")));
  }

  private HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return http.send(
        request.header("Accept", "text/html,*/*;q=0.8").timeout(Duration.ofSeconds(60)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /// A body of this many zero bytes, made while they are sent.
  static InputStream zeros(long bytes) {
    return new InputStream() {
      private long left = bytes;

      @Override
      public int read() {
        return left-- > 0 ? 0 : -1;
      }

      @Override
      public int read(byte[] into, int from, int most) {
        if (left <= 0) {
          return -1;
        }
        int some = (int) Math.min(left, most);
        left -= some;
        return some;
      }
    };
  }
}
