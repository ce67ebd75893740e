package io.pushplanet.simulators.server;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/// One HTTP request as received. `target` is the raw path with its query; header names are in lower
/// case. The arrays and lists are the server's own and not copied: a simulator is on the hot path
/// of every load run.
public record Request(String method, String target, List<Header> headers, byte[] body) {
  private static final String BEARER = "bearer ";

  /// One header line.
  public record Header(String name, String value) {}

  /// The first value of a header.
  public Optional<String> header(String name) {
    return headers.stream().filter(h -> h.name().equals(name)).map(Header::value).findFirst();
  }

  /// All values of a header.
  public List<String> all(String name) {
    return headers.stream().filter(h -> h.name().equals(name)).map(Header::value).toList();
  }

  /// The path without its query.
  public String path() {
    int question = target.indexOf('?');
    return question < 0 ? target : target.substring(0, question);
  }

  /// The path's segments, decoded.
  public List<String> segments() {
    List<String> segments = new ArrayList<>();
    for (String segment : path().split("/")) {
      if (!segment.isEmpty()) {
        segments.add(decode(segment));
      }
    }
    return segments;
  }

  /// One parameter of the query.
  public Optional<String> query(String name) {
    int question = target.indexOf('?');
    return question < 0 ? Optional.empty() : parameter(target.substring(question + 1), name);
  }

  /// One field of a form body.
  public Optional<String> form(String name) {
    return parameter(new String(body, StandardCharsets.UTF_8), name);
  }

  /// The token of `Authorization: Bearer`.
  public Optional<String> bearer() {
    return header("authorization")
        .filter(value -> value.regionMatches(true, 0, BEARER, 0, BEARER.length()))
        .map(value -> value.substring(BEARER.length()).strip());
  }

  /// The body as JSON; missing for an empty body or another form.
  public JsonNode json() {
    try {
      return body.length == 0 ? MissingNode.getInstance() : JsonMapper.shared().readTree(body);
    } catch (JacksonException notJson) {
      return MissingNode.getInstance();
    }
  }

  private static Optional<String> parameter(String pairs, String name) {
    for (String pair : pairs.split("&")) {
      int equals = pair.indexOf('=');
      if (equals > 0 && pair.substring(0, equals).equals(name)) {
        return Optional.of(decode(pair.substring(equals + 1)));
      }
    }
    return Optional.empty();
  }

  private static String decode(String encoded) {
    return URLDecoder.decode(encoded, StandardCharsets.UTF_8);
  }
}
