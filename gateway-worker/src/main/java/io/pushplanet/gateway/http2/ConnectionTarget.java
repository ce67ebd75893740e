package io.pushplanet.gateway.http2;

import java.net.URI;
import javax.net.ssl.SSLContext;

/// The key by which connections are pooled. No two credentials share a connection, because a
/// provider ties it to its first sender.
///
/// @param credential our identity there: `TEAM/KEY`, a certificate's fingerprint, a project
/// @param tls with the client certificate, if there is one
public record ConnectionTarget(String credential, URI endpoint, SSLContext tls) {
  int port() {
    if (endpoint.getPort() >= 0) {
      return endpoint.getPort();
    }
    return isTls() ? 443 : 80;
  }

  String authority() {
    boolean usual = port() == (isTls() ? 443 : 80);
    return usual ? endpoint.getHost() : endpoint.getHost() + ":" + port();
  }

  boolean isTls() {
    return !"http".equalsIgnoreCase(endpoint.getScheme());
  }
}
