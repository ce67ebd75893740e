package io.pushplanet.gateway.credential;

import io.pushplanet.common.access.Secret;
import java.net.URI;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateKey;
import javax.net.ssl.KeyManager;

/// An app's identity at a vendor. `fingerprint` tells one secret from another without showing it.
public sealed interface Credential {
  String fingerprint();

  /// An identity for sending to an app on Apple's devices.
  sealed interface Apns extends Credential {
    String bundleId();
  }

  /// A `.p8`: a key that signs provider tokens.
  record ApnsKey(String teamId, String keyId, String bundleId, ECPrivateKey key, String fingerprint)
      implements Apns {
    @Override
    public String toString() {
      return "ApnsKey[" + teamId + "/" + keyId + "]";
    }
  }

  /// A `.p12`: a TLS client certificate.
  record ApnsCertificate(String bundleId, KeyManager[] keys, String fingerprint) implements Apns {
    @Override
    public String toString() {
      return "ApnsCertificate[" + bundleId + "]";
    }
  }

  /// A VAPID key pair: an app's identity at every push service
  /// (https://www.rfc-editor.org/rfc/rfc8292).
  ///
  /// @param subject `mailto:` or `https:`, where a push service finds a person
  /// @param publicKey an uncompressed point in base64url, which browsers call applicationServerKey
  record VapidKey(String subject, String publicKey, ECPrivateKey key, String fingerprint)
      implements Credential {
    @Override
    public String toString() {
      return "VapidKey[" + publicKey + "]";
    }
  }

  /// An app at Huawei, as its OAuth server knows it.
  ///
  /// @param clientId its app id too, which is part of a send's path
  record HmsClient(String clientId, Secret secret, String fingerprint) implements Credential {
    @Override
    public String toString() {
      return "HmsClient[" + clientId + "]";
    }
  }

  /// A Google service account.
  record FcmServiceAccount(
      String projectId,
      String clientEmail,
      String keyId,
      RSAPrivateKey key,
      URI tokenUri,
      String fingerprint)
      implements Credential {
    @Override
    public String toString() {
      return "FcmServiceAccount[" + projectId + "]";
    }
  }
}
