package io.pushplanet.simulators;

import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.tls.Authority;
import io.pushplanet.simulators.tls.Authority.Pem;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// A sender's tools for the simulators: a client that trusts them, and signed tokens.
final class Senders {
  private Senders() {}

  static HttpClient trusting(Authority authority) {
    return HttpClient.newBuilder()
        .sslContext(tls(authority))
        .connectTimeout(Duration.ofSeconds(60))
        .build();
  }

  static SSLContext tls(Authority authority) {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setCertificateEntry("ca", authority.certificate());
      TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /// Repeats an assertion until it holds, for a minute at most.
  static void eventually(Runnable assertion) {
    long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
    while (true) {
      try {
        assertion.run();
        return;
      } catch (AssertionError notYet) {
        if (System.nanoTime() - deadline >= 0) {
          throw notYet;
        }
        LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
      }
    }
  }

  static String providerToken(ApnsKey.Issued issued, Instant issuedAt) {
    return jwt(
        "{\"alg\":\"ES256\",\"kid\":\"" + issued.key().keyId() + "\"}",
        "{\"iss\":\"" + issued.key().teamId() + "\",\"iat\":" + issuedAt.getEpochSecond() + "}",
        issued.p8(),
        "EC",
        "SHA256withECDSAinP1363Format");
  }

  static String jwt(String header, String claims, String key, String family, String algorithm) {
    try {
      Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
      String signed =
          base64.encodeToString(header.getBytes(StandardCharsets.UTF_8))
              + "."
              + base64.encodeToString(claims.getBytes(StandardCharsets.UTF_8));
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(
          KeyFactory.getInstance(family).generatePrivate(new PKCS8EncodedKeySpec(Pem.decode(key))));
      signature.update(signed.getBytes(StandardCharsets.US_ASCII));
      return signed + "." + base64.encodeToString(signature.sign());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
