package io.pushplanet.gateway.apns;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.credential.Credential.ApnsCertificate;
import java.time.Duration;
import javax.net.ssl.SSLContext;

/// Keeps one TLS context for each client certificate, so that its connections are found again.
/// Thread-safe.
final class Certificates {
  private final Trust trust;
  private final Cache<String, SSLContext> contexts =
      Caffeine.newBuilder().maximumSize(10_000).expireAfterAccess(Duration.ofDays(1)).build();

  Certificates(Trust trust) {
    this.trust = trust;
  }

  SSLContext context(ApnsCertificate certificate) {
    return contexts.get(certificate.fingerprint(), _ -> trust.context(certificate.keys()));
  }
}
