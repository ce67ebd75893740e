package io.pushplanet.load.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// An operator at the dashboard, who sends its forms as a browser does. For one thread.
public final class Operator implements AutoCloseable {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(60);
  private static final Pattern CSRF = Pattern.compile("name=\"_csrf\" value=\"([^\"]+)\"");
  private static final Pattern PROBLEM =
      Pattern.compile("<[^>]*class=\"note bad\"[^>]*role=\"alert\"[^>]*>([^<]*)<");
  private static final String BOUNDARY = "pushplanet-bench";

  private final HttpClient http =
      HttpClient.newBuilder()
          .cookieHandler(new CookieManager())
          .followRedirects(HttpClient.Redirect.NORMAL)
          .connectTimeout(ANSWER_WITHIN)
          .build();
  private final URI dashboard;

  private Operator(URI dashboard) {
    this.dashboard = dashboard;
  }

  /// @throws IllegalStateException when name and password are not taken
  public static Operator loggedIn(URI dashboard, String name, String password) {
    Operator operator = new Operator(dashboard);
    operator.post("/login", "/login", Map.of("username", name, "password", password));
    return operator;
  }

  /// The page.
  public String open(String page) {
    return ask(to(page).GET());
  }

  /// Presses a button, a form of a page without fields.
  ///
  /// @return the page that follows
  /// @throws IllegalStateException when that tells of a problem
  public String press(String page, String path) {
    return post(page, path, Map.of());
  }

  /// Uploads a file with the other fields of its form.
  ///
  /// @return the page that follows
  /// @throws IllegalStateException when that tells of a problem
  public String upload(String page, String path, Map<String, String> fields, byte[] file) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    part(body, "\"_csrf\"", csrf(page).getBytes(StandardCharsets.UTF_8));
    fields.forEach(
        (name, value) -> part(body, '"' + name + '"', value.getBytes(StandardCharsets.UTF_8)));
    part(body, "\"file\"; filename=\"file\"", file);
    body.writeBytes(("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII));
    return ask(
        to(path)
            .header("Content-Type", "multipart/form-data; boundary=" + BOUNDARY)
            .POST(BodyPublishers.ofByteArray(body.toByteArray())));
  }

  private static void part(ByteArrayOutputStream body, String name, byte[] content) {
    String head = "--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=" + name + "\r\n\r\n";
    body.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
    body.writeBytes(content);
    body.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
  }

  private String post(String page, String path, Map<String, String> fields) {
    StringBuilder form = new StringBuilder("_csrf=").append(encoded(csrf(page)));
    fields.forEach(
        (name, value) -> form.append('&').append(name).append('=').append(encoded(value)));
    return ask(
        to(path)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(BodyPublishers.ofString(form.toString())));
  }

  private String csrf(String page) {
    Matcher token = CSRF.matcher(open(page));
    if (!token.find()) {
      throw new IllegalStateException("the dashboard's page " + page + " has no form for us");
    }
    return token.group(1);
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(dashboard.resolve(path))
        .header("Accept", "text/html")
        .timeout(ANSWER_WITHIN);
  }

  private String ask(HttpRequest.Builder builder) {
    HttpRequest request = builder.build();
    try {
      var answer = http.send(request, BodyHandlers.ofString());
      Matcher problem = PROBLEM.matcher(answer.body());
      if (answer.statusCode() != 200 || problem.find()) {
        throw new IllegalStateException(
            "the dashboard answers %s %s with %d%s"
                .formatted(
                    request.method(),
                    request.uri().getPath(),
                    answer.statusCode(),
                    problem.hasMatch() ? ": " + problem.group(1).strip() : ""));
      }
      return answer.body();
    } catch (IOException e) {
      throw new UncheckedIOException("the dashboard at " + dashboard + " does not answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    http.close();
  }
}
