package io.pushplanet.gateway.connection;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/// The certificate authorities that a provider's connections trust: the JDK's, and those of a PEM
/// file. Not a pinned list: Apple moved to another root in 2025
/// (https://developer.apple.com/news/?id=09za8wzy).
public final class Trust {
  private final TrustManager[] managers;

  private Trust(TrustManager[] managers) {
    this.managers = managers;
  }

  /// The JDK's alone.
  public static Trust ofJdk() {
    try {
      return new Trust(managers(null));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK trusts nobody", e);
    }
  }

  /// @param setting the full name of the one that names the file
  /// @param additional a PEM file of certificates; null = only the JDK's
  /// @throws IllegalArgumentException when the file cannot be read: a security part that fails
  ///     stops the start
  public static Trust with(String setting, @Nullable Path additional) {
    if (additional == null) {
      return ofJdk();
    }
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (X509Certificate authority :
          ((X509TrustManager) managers(null)[0]).getAcceptedIssuers()) {
        store.setCertificateEntry("jdk-" + store.size(), authority);
      }
      List<Certificate> added = new ArrayList<>();
      try (InputStream file = Files.newInputStream(additional)) {
        added.addAll(CertificateFactory.getInstance("X.509").generateCertificates(file));
      }
      if (added.isEmpty()) {
        throw new IllegalArgumentException(
            setting + ": " + additional + " holds no certificate in PEM form");
      }
      for (Certificate authority : added) {
        store.setCertificateEntry("added-" + store.size(), authority);
      }
      return new Trust(managers(store));
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(setting + ": cannot read " + additional + ": " + e, e);
    }
  }

  private static TrustManager[] managers(@Nullable KeyStore store) throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return Arrays.stream(factory.getTrustManagers())
        .filter(X509TrustManager.class::isInstance)
        .toArray(TrustManager[]::new);
  }

  /// For clients without a certificate.
  public SSLContext context() {
    return context(null);
  }

  /// @param keys the client's certificate and its key
  public SSLContext context(KeyManager @Nullable [] keys) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys, managers, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no TLS", e);
    }
  }
}
