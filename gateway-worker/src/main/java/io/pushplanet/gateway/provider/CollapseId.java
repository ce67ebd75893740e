package io.pushplanet.gateway.provider;

import io.pushplanet.common.access.Sha256;
import io.pushplanet.common.message.Push;
import java.util.Base64;
import java.util.regex.Pattern;

/// The value of `apns-collapse-id`, which goes to Apple directly or by way of Google.
public final class CollapseId {
  private static final Pattern PRINTABLE = Pattern.compile("[\\x21-\\x7e]+");

  private CollapseId() {}

  /// The caller's key, or else the message's id: a repeat after a lost answer then replaces the
  /// first copy on the device.
  ///
  /// @return at most 64 bytes, printable
  public static String of(Push push) {
    String key = push.delivery().collapseKey();
    if (key == null) {
      return push.id().value();
    }
    return PRINTABLE.matcher(key).matches()
        ? key
        : Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(key));
  }
}
