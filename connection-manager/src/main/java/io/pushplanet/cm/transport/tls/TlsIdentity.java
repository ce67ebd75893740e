package io.pushplanet.cm.transport.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.InstantSource;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The server's certificate and key. Speaks TLS 1.3 only. Thread-safe.
///
/// New files are loaded without a restart ([#reloadIfChanged]): the next handshake shows them, and
/// connections stay. The tickets for resumption stay valid, too, because their keys belong to the
/// context: a renewed certificate must not cost a full handshake of every device at once. After a
/// key was stolen, restart the node.
///
/// A certificate that has expired stops neither the start nor a connection, because the node's
/// other listeners need none, and it is the clients that judge it. It is logged once, and
/// `cm.tls.certificate.expires` tells of it before. It never takes the place of a valid one.
public final class TlsIdentity {
  /// The most plain text in one TLS record (https://www.rfc-editor.org/rfc/rfc8446#section-5.1).
  public static final int MAX_PLAIN_BYTES = 16 * 1024;

  private static final Logger LOG = LoggerFactory.getLogger(TlsIdentity.class);

  private final Path certificate;
  private final Path privateKey;
  private final ServerKeys keys;
  private final SSLContext context;
  private final InstantSource clock;
  private String seen;
  private boolean toldExpired;

  private TlsIdentity(
      Path certificate,
      Path privateKey,
      ServerKeys keys,
      SSLContext context,
      InstantSource clock,
      String seen) {
    this.certificate = certificate;
    this.privateKey = privateKey;
    this.keys = keys;
    this.context = context;
    this.clock = clock;
    this.seen = seen;
  }

  /// @param certificate PEM, the server's own first, then its chain
  /// @param privateKey PEM, PKCS #8 without a password
  /// @throws IllegalArgumentException when they cannot be used; the message says why. A broken TLS
  ///     setting stops the start
  public static TlsIdentity fromPem(Path certificate, Path privateKey, InstantSource clock) {
    try {
      String seen = state(certificate, privateKey);
      var files = PemPair.read(certificate, privateKey);
      var keys = new ServerKeys(files.key(), files.chain());
      var context = SSLContext.getInstance("TLSv1.3");
      context.init(new KeyManager[] {keys}, null, null);
      return new TlsIdentity(certificate, privateKey, keys, context, clock, seen);
    } catch (IOException | GeneralSecurityException unusable) {
      throw new IllegalArgumentException(
          "cm.tls.certificate and cm.tls.private-key must be PEM files that belong together: "
              + unusable.getMessage(),
          unusable);
    }
  }

  /// Reads the files again if either has changed. Broken or half-written files are logged once and
  /// ignored: the old certificate stays until both files are complete. So it does until the new one
  /// has not expired, unless it has expired itself. Blocking; for one thread.
  public void reloadIfChanged() {
    String now = state(certificate, privateKey);
    if (!now.equals(seen)) {
      seen = now;
      reload();
    }
    tellOfExpiry();
  }

  private void reload() {
    try {
      var files = PemPair.read(certificate, privateKey);
      if (hasExpired(files.notAfter()) && !hasExpired(notAfter())) {
        throw new IllegalArgumentException("the new certificate expired at " + files.notAfter());
      }
      keys.replace(files.key(), files.chain());
      LOG.info("event=tls_certificate_reloaded not_after={}", notAfter());
    } catch (IOException | GeneralSecurityException | IllegalArgumentException unusable) {
      LOG.error(
          "event=tls_certificate_reload_failed meaning=\"the old one is shown until both files are"
              + " good\" reason=\"{}\"",
          unusable.getMessage());
    }
  }

  private void tellOfExpiry() {
    boolean expired = hasExpired(notAfter());
    if (expired && !toldExpired) {
      LOG.error(
          "event=tls_certificate_expired not_after={} meaning=\"clients that check it cannot"
              + " connect over TLS\"",
          notAfter());
    }
    toldExpired = expired;
  }

  private boolean hasExpired(Instant notAfter) {
    return clock.instant().isAfter(notAfter);
  }

  /// When the current certificate expires.
  public Instant notAfter() {
    return keys.current().chain().getFirst().getNotAfter().toInstant();
  }

  /// The same in seconds since 1970, for a gauge.
  public double notAfterSeconds() {
    return notAfter().getEpochSecond();
  }

  public SSLEngine serverEngine() {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(false);
    engine.setEnabledProtocols(new String[] {"TLSv1.3"});
    return engine;
  }

  /// Follows links, because Kubernetes replaces the links to secrets. A missing file is a state,
  /// too.
  private static String state(Path... files) {
    var state = new StringBuilder();
    for (Path file : files) {
      try {
        Path real = file.toRealPath();
        state.append(real).append(Files.getLastModifiedTime(real)).append(Files.size(real));
      } catch (IOException missing) {
        state.append(missing);
      }
    }
    return state.toString();
  }
}
