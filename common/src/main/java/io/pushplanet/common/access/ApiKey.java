package io.pushplanet.common.access;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// An API key as its owner holds it: `pp_<id>_<secret>`. The id finds the row in `api_keys`. The
/// row has only the SHA-256 of the whole key, which is enough because the secret has 256 random
/// bits.
public record ApiKey(String id, Secret text) {
  private static final Pattern FORM = Pattern.compile("pp_([a-z0-9]{16})_([A-Za-z0-9_-]{43})");
  private static final String ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

  public static ApiKey generate(SecureRandom random) {
    StringBuilder id = new StringBuilder();
    for (int i = 0; i < 16; i++) {
      id.append(ID_LETTERS.charAt(random.nextInt(ID_LETTERS.length())));
    }
    byte[] secret = new byte[32];
    random.nextBytes(secret);
    String text = "pp_" + id + "_" + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    return new ApiKey(id.toString(), new Secret(text));
  }

  /// @return empty when the text has another form
  public static Optional<ApiKey> parse(String text) {
    Matcher matcher = FORM.matcher(text);
    return matcher.matches()
        ? Optional.of(new ApiKey(matcher.group(1), new Secret(text)))
        : Optional.empty();
  }

  /// SHA-256 of the whole key, 32 bytes.
  public byte[] hash() {
    return Sha256.of(text.reveal());
  }

  /// Compares in constant time.
  public boolean matches(byte[] storedHash) {
    return MessageDigest.isEqual(hash(), storedHash);
  }
}
