package io.pushplanet.simulators.webpush;

import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import javax.crypto.KeyAgreement;

/// Keys on P-256 in the form that browsers use: 0x04, x, y (X9.62, uncompressed).
final class P256 {
  static final int POINT_BYTES = 65;
  private static final int FIELD_BYTES = 32;
  private static final byte UNCOMPRESSED = 4;

  private P256() {}

  static KeyPair generate() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This JDK has no P-256", e);
    }
  }

  static byte[] encode(ECPublicKey key) {
    byte[] point = new byte[POINT_BYTES];
    point[0] = UNCOMPRESSED;
    put(key.getW().getAffineX(), point, 1);
    put(key.getW().getAffineY(), point, 1 + FIELD_BYTES);
    return point;
  }

  private static void put(BigInteger coordinate, byte[] point, int at) {
    byte[] bytes = coordinate.toByteArray();
    int length = Math.min(bytes.length, FIELD_BYTES);
    System.arraycopy(bytes, bytes.length - length, point, at + FIELD_BYTES - length, length);
  }

  /// @throws GeneralSecurityException when it does not have the form of a point; [#agree] and
  ///     signatures refuse one outside the curve
  static ECPublicKey decode(byte[] point) throws GeneralSecurityException {
    if (point.length != POINT_BYTES || point[0] != UNCOMPRESSED) {
      throw new GeneralSecurityException("not an uncompressed point");
    }
    AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
    parameters.init(new ECGenParameterSpec("secp256r1"));
    ECPoint w =
        new ECPoint(
            new BigInteger(1, Arrays.copyOfRange(point, 1, 1 + FIELD_BYTES)),
            new BigInteger(1, Arrays.copyOfRange(point, 1 + FIELD_BYTES, POINT_BYTES)));
    return (ECPublicKey)
        KeyFactory.getInstance("EC")
            .generatePublic(
                new ECPublicKeySpec(w, parameters.getParameterSpec(ECParameterSpec.class)));
  }

  static PrivateKey privateKey(byte[] pkcs8) throws GeneralSecurityException {
    return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
  }

  static byte[] agree(PrivateKey mine, ECPublicKey theirs) throws GeneralSecurityException {
    KeyAgreement agreement = KeyAgreement.getInstance("ECDH");
    agreement.init(mine);
    agreement.doPhase(theirs, true);
    return agreement.generateSecret();
  }
}
