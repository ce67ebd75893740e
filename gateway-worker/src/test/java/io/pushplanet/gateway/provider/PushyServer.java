package io.pushplanet.gateway.provider;

import com.eatthepath.pushy.apns.auth.ApnsVerificationKey;
import com.eatthepath.pushy.apns.server.MockApnsServer;
import com.eatthepath.pushy.apns.server.MockApnsServerBuilder;
import com.eatthepath.pushy.apns.server.PushNotificationHandler;
import com.eatthepath.pushy.apns.server.PushNotificationHandlerFactory;
import com.eatthepath.pushy.apns.server.ValidatingPushNotificationHandlerFactory;
import com.google.crypto.tink.subtle.EllipticCurves;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.tls.Authority;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.Map;
import java.util.Set;

/// Pushy's mock of APNs with all of its own checks: an HTTP/2 server, and an understanding of
/// Apple's rules, that are not ours.
final class PushyServer implements AutoCloseable {
  private final MockApnsServer server;
  final int port;

  private PushyServer(MockApnsServer server, int port) {
    this.server = server;
    this.port = port;
  }

  /// @param key the only key that it knows, and that may send to the topics
  /// @param tokens the device tokens that it knows, by topic
  static PushyServer start(Authority authority, ApnsKey key, Map<String, Set<String>> tokens)
      throws Exception {
    ApnsVerificationKey verifying =
        ApnsVerificationKey.loadFromInputStream(
            new ByteArrayInputStream(key.publicKeyPem().getBytes(StandardCharsets.US_ASCII)),
            key.teamId(),
            key.keyId());
    PushNotificationHandlerFactory validating =
        new ValidatingPushNotificationHandlerFactory(
            tokens, Map.of(), Map.of(key.keyId(), verifying), Map.of(verifying, tokens.keySet()));
    var identity = authority.server();
    MockApnsServer server =
        new MockApnsServerBuilder()
            .setUseAlpn(true)
            .setServerCredentials(
                new X509Certificate[] {identity.certificate()}, identity.key(), null)
            .setHandlerFactory(session -> {
              PushNotificationHandler handler = validating.buildHandler(session);
              return (headers, payload) ->
                  handler.handlePushNotification(withDerSignature(headers), payload);
            })
            .build();
    return new PushyServer(server, server.start(0).get());
  }

  /// Pushy checks tokens that are signed like its own, in DER; RFC 7518, section 3.4, wants the two
  /// numbers.
  private static Http2Headers withDerSignature(Http2Headers headers) {
    Http2Headers same = new DefaultHttp2Headers(false);
    same.setAll(headers);
    CharSequence authorization = headers.get("authorization");
    if (authorization != null) {
      String token = authorization.toString();
      int signature = token.lastIndexOf('.') + 1;
      same.set("authorization", token.substring(0, signature) + der(token.substring(signature)));
    }
    return same;
  }

  private static String der(String signature) {
    try {
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(EllipticCurves.ecdsaIeee2Der(Base64.getUrlDecoder().decode(signature)));
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("no signature of ES256", e);
    }
  }

  @Override
  public void close() {
    server.shutdown().join();
  }
}
