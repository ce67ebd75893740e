package io.pushplanet.gateway.webpush;

import com.google.crypto.tink.subtle.EllipticCurves;
import com.google.crypto.tink.subtle.EllipticCurves.CurveType;
import com.google.crypto.tink.subtle.EllipticCurves.PointFormatType;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.interfaces.ECPublicKey;
import java.util.Base64;
import java.util.Locale;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Where a browser is reached, and its keys.
///
/// @param endpoint https, with a host and without user info
/// @param point `p256dh`, the browser's public key as an uncompressed point
/// @param key the same key, proven to lie on the curve
/// @param auth 16 bytes that only the browser and its app know
record BrowserSubscription(URI endpoint, byte[] point, ECPublicKey key, byte[] auth) {
  private static final int AUTH_BYTES = 16;
  private static final int HTTPS_PORT = 443;
  private static final int HIGHEST_PORT = 65_535;

  /// @throws IllegalArgumentException says what is wrong, without the keys
  static BrowserSubscription parse(String json) {
    try {
      JsonNode subscription = JsonMapper.shared().readTree(json);
      URI endpoint = URI.create(subscription.path("endpoint").asString(""));
      if (!"https".equalsIgnoreCase(endpoint.getScheme())
          || endpoint.getHost() == null
          || endpoint.getPort() == 0
          || endpoint.getPort() > HIGHEST_PORT
          || endpoint.getRawUserInfo() != null) {
        throw new IllegalArgumentException("the endpoint is no https URL");
      }
      JsonNode keys = subscription.path("keys");
      byte[] point = Base64.getUrlDecoder().decode(keys.path("p256dh").asString(""));
      byte[] auth = Base64.getUrlDecoder().decode(keys.path("auth").asString(""));
      if (auth.length != AUTH_BYTES) {
        throw new IllegalArgumentException("auth has " + auth.length + " bytes, not 16");
      }
      ECPublicKey key =
          EllipticCurves.getEcPublicKey(CurveType.NIST_P256, PointFormatType.UNCOMPRESSED, point);
      return new BrowserSubscription(endpoint, point, key, auth);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("not JSON", e);
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("p256dh is no point of the curve", e);
    }
  }

  String host() {
    String host = endpoint.getHost().toLowerCase(Locale.ROOT);
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  int port() {
    return endpoint.getPort() < 0 ? HTTPS_PORT : endpoint.getPort();
  }

  /// In the form of RFC 6454, with which a push service compares `aud`.
  String origin() {
    return origin(endpoint);
  }

  static String origin(URI uri) {
    String host = String.valueOf(uri.getHost()).toLowerCase(Locale.ROOT);
    String port = uri.getPort() < 0 || uri.getPort() == HTTPS_PORT ? "" : ":" + uri.getPort();
    return "https://" + host + port;
  }

  String target() {
    String path = endpoint.getRawPath();
    String query = endpoint.getRawQuery();
    return (path.isEmpty() ? "/" : path) + (query == null ? "" : "?" + query);
  }

  @Override
  public String toString() {
    return "BrowserSubscription[" + origin() + "]";
  }
}
