package io.pushplanet.dashboard.credential;

import io.pushplanet.common.wire.WireForm;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.UnrecoverableKeyException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;

/// An APNs certificate with its key, in a password-protected .p12
/// (https://developer.apple.com/documentation/usernotifications/establishing-a-certificate-based-connection-to-apns).
final class ApnsCertificate {
  /// Apple's extensions: one for the sandbox, one for production, and one with the topics of the
  /// certificate.
  private static final String SANDBOX = "1.2.840.113635.100.6.3.1";

  private static final String PRODUCTION = "1.2.840.113635.100.6.3.2";
  private static final String TOPICS = "1.2.840.113635.100.6.3.6";
  private static final int DER_UTF8_STRING = 0x0c;
  private static final int DER_CONSTRUCTED = 0x20;
  private static final int DER_OCTET_STRING = 0x04;

  private ApnsCertificate() {}

  /// @param bundleId empty to take the one that the certificate names
  static CheckedCredential check(
      byte[] file, String password, String bundleId, List<String> environments, Instant now)
      throws RefusedCredential {
    X509Certificate certificate = open(file, password);
    Instant expiresAt = certificate.getNotAfter().toInstant();
    if (expiresAt.isBefore(now)) {
      throw new RefusedCredential(
          "The certificate expired on "
              + expiresAt
              + ". Create a new one in your Apple developer account.");
    }
    Instant validFrom = certificate.getNotBefore().toInstant();
    if (validFrom.isAfter(now)) {
      throw new RefusedCredential(
          "The certificate is not valid before " + validFrom + ". Upload it then.");
    }
    checkEnvironments(certificate, environments);
    List<String> topics = topics(certificate);
    String bundle =
        bundleId.isEmpty()
            ? subjectUid(certificate)
                .or(() -> topics.stream().findFirst())
                .orElseThrow(() ->
                    new RefusedCredential(
                        "The certificate names no bundle id. Type it into the form."))
            : bundleId;
    ApnsKey.checkBundle(bundle);
    if (!topics.isEmpty() && !topics.contains(bundle)) {
      throw new RefusedCredential(
          "The certificate is for " + String.join(", ", topics) + ", not for " + bundle + ".");
    }
    var detail = new LinkedHashMap<String, String>();
    detail.put("bundle_id", bundle);
    detail.put("subject", certificate.getSubjectX500Principal().getName());
    detail.put("serial", certificate.getSerialNumber().toString(16));
    if (!topics.isEmpty()) {
      detail.put("topics", String.join(" ", topics));
    }
    byte[] secret =
        WireForm.write(
            Map.of("p12", Base64.getEncoder().encodeToString(file), "password", password));
    return new CheckedCredential("apns", environments, "p12", detail, secret, expiresAt);
  }

  private static X509Certificate open(byte[] file, String password) throws RefusedCredential {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(new ByteArrayInputStream(file), password.toCharArray());
      X509Certificate found = null;
      for (String alias : Collections.list(store.aliases())) {
        if (store.isKeyEntry(alias)
            && store.getCertificate(alias) instanceof X509Certificate certificate) {
          if (found != null) {
            // Otherwise the TLS library would choose which of them Apple gets.
            throw new RefusedCredential(
                "The .p12 file holds several certificates with private keys. Export the one of this app alone.");
          }
          store.getKey(alias, password.toCharArray());
          found = certificate;
        }
      }
      if (found != null) {
        return found;
      }
    } catch (IOException e) {
      if (e.getCause() instanceof UnrecoverableKeyException) {
        throw new RefusedCredential("The password does not open this .p12 file.");
      }
      throw new RefusedCredential("This is not a .p12 file (PKCS#12), or it is damaged.");
    } catch (UnrecoverableKeyException e) {
      throw new RefusedCredential(
          "The password opens the .p12 file, but not the private key in it.");
    } catch (GeneralSecurityException e) {
      throw new RefusedCredential(
          "This .p12 file uses an encryption that is not supported: " + e.getMessage());
    }
    throw new RefusedCredential(
        "The .p12 file holds no certificate with its private key. Export both together from Keychain Access.");
  }

  /// A certificate without Apple's extensions is accepted as it is.
  private static void checkEnvironments(X509Certificate certificate, List<String> environments)
      throws RefusedCredential {
    boolean sandbox = certificate.getExtensionValue(SANDBOX) != null;
    boolean production = certificate.getExtensionValue(PRODUCTION) != null;
    if (!sandbox && !production) {
      return;
    }
    if (environments.contains("sandbox") && !sandbox) {
      throw new RefusedCredential("The certificate is for production only. Choose production.");
    }
    if (environments.contains("production") && !production) {
      throw new RefusedCredential("The certificate is for the sandbox only. Choose sandbox.");
    }
  }

  private static Optional<String> subjectUid(X509Certificate certificate) {
    try {
      return new LdapName(certificate.getSubjectX500Principal().getName())
          .getRdns().stream()
              .filter(part -> part.getType().equalsIgnoreCase("UID"))
              .map(part -> part.getValue().toString())
              .findFirst();
    } catch (InvalidNameException e) {
      return Optional.empty();
    }
  }

  /// The extension is SEQUENCE { topic UTF8String, SEQUENCE { kind UTF8String }, … }: the topics
  /// stand at depth one.
  private static List<String> topics(X509Certificate certificate) {
    byte[] extension = certificate.getExtensionValue(TOPICS);
    List<String> topics = new ArrayList<>();
    if (extension != null) {
      collect(extension, 0, extension.length, 0, topics);
    }
    return topics;
  }

  private static void collect(byte[] der, int from, int to, int depth, List<String> topics) {
    int at = from;
    while (at + 2 <= to) {
      int tag = der[at] & 0xff;
      int length = der[at + 1] & 0xff;
      int start = at + 2;
      if (length > 0x80) {
        int bytes = length - 0x80;
        if (bytes > 3 || start + bytes > to) {
          return;
        }
        length = 0;
        for (int i = 0; i < bytes; i++) {
          length = (length << 8) | (der[start + i] & 0xff);
        }
        start += bytes;
      }
      if (start + length > to) {
        return;
      }
      if (tag == DER_OCTET_STRING) {
        collect(der, start, start + length, depth, topics);
      } else if ((tag & DER_CONSTRUCTED) != 0 && depth < 1) {
        collect(der, start, start + length, depth + 1, topics);
      } else if (tag == DER_UTF8_STRING) {
        topics.add(new String(der, start, length, StandardCharsets.UTF_8));
      }
      at = start + length;
    }
  }
}
