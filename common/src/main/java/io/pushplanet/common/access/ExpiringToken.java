package io.pushplanet.common.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Instant;
import java.util.Base64;
import java.util.List;

/// Makes and checks texts that only a holder of the [MasterKey] can make, and that end:
/// `v1.<expiry, epoch seconds>.<HMAC-SHA256>`, the last part in base64url. The signature covers the
/// expiry and a subject that the text does not contain, so that a token is valid for its subject
/// alone. Nothing is stored: a token cannot be taken back. Thread-safe.
public final class ExpiringToken {
  private static final String VERSION = "v1";

  private static final int LONGEST_EXPIRY = 12;

  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  /// The first one signs; the others check tokens of former master keys.
  private final List<MasterKey.Signer> signers;

  private final Clock clock;

  /// @param purpose tokens of another purpose are invalid
  public ExpiringToken(MasterKey masterKey, String purpose, Clock clock) {
    this.signers = masterKey.currentAndFormer().stream().map(key -> key.signer(purpose)).toList();
    this.clock = clock;
  }

  /// The result of a check.
  public sealed interface Verdict {
    /// @param ends in this second of the epoch
    record Valid(long ends) implements Verdict {}

    /// Signed by us for this subject, but no longer valid.
    record Expired() implements Verdict {}

    record Invalid() implements Verdict {}
  }

  /// @param subject in one form only: two subjects must not have the same text
  /// @param ends in this second of the epoch
  public String mint(String subject, long ends) {
    byte[] signature = signature(signers.getFirst(), subject, ends);
    return VERSION + "." + ends + "." + new String(signature, StandardCharsets.US_ASCII);
  }

  /// Compares signatures in constant time.
  public Verdict verify(String subject, String token) {
    int first = VERSION.length();
    int second = token.indexOf('.', first + 1);
    if (!token.startsWith(VERSION + ".") || !isNumber(token, first + 1, second)) {
      return new Verdict.Invalid();
    }
    long ends = Long.parseLong(token, first + 1, second, 10);
    byte[] shown = token.substring(second + 1).getBytes(StandardCharsets.UTF_8);
    for (MasterKey.Signer signer : signers) {
      if (MessageDigest.isEqual(signature(signer, subject, ends), shown)) {
        return clock.instant().isBefore(Instant.ofEpochSecond(ends))
            ? new Verdict.Valid(ends)
            : new Verdict.Expired();
      }
    }
    return new Verdict.Invalid();
  }

  private static boolean isNumber(String text, int from, int to) {
    if (to <= from || to - from > LONGEST_EXPIRY) {
      return false;
    }
    for (int index = from; index < to; index++) {
      if (text.charAt(index) < '0' || text.charAt(index) > '9') {
        return false;
      }
    }
    return true;
  }

  /// In base64.
  private static byte[] signature(MasterKey.Signer signer, String subject, long ends) {
    byte[] signed = (subject + "\0" + ends).getBytes(StandardCharsets.UTF_8);
    return BASE64.encode(signer.sign(signed));
  }
}
