package io.pushplanet.gateway.oauth;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/// A form that is posted to get an access token.
public record TokenRequest(URI endpoint, Map<String, String> fields) {
  public TokenRequest {
    fields = Map.copyOf(fields);
  }

  String form() {
    return fields.entrySet().stream()
        .map(field ->
            field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&"));
  }

  @Override
  public String toString() {
    return "TokenRequest[" + endpoint + "]";
  }
}
