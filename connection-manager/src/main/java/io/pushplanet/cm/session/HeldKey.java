package io.pushplanet.cm.session;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import java.util.UUID;

/// A device's key as the table holds it. The ids that the dispatcher gives are UUIDs: as two numbers they take 32 bytes
/// where the text and its wrappings take 104. Keys are equal exactly when their devices are.
sealed interface HeldKey {
  int UUID_LENGTH = 36;

  DeviceKey device();

  static HeldKey of(DeviceKey device) {
    var text = device.device().value();
    if (!isCanonical(text)) {
      return new Text(device);
    }
    return new Number(
        device.app(),
        (hex(text, 0, 8) << 32) | (hex(text, 9, 13) << 16) | hex(text, 14, 18),
        (hex(text, 19, 23) << 48) | hex(text, 24, 36));
  }

  /// Any other id.
  record Text(DeviceKey device) implements HeldKey {}

  /// A UUID in lower case.
  record Number(AppId app, long high, long low) implements HeldKey {
    @Override
    public DeviceKey device() {
      return new DeviceKey(app, new DeviceId(new UUID(high, low).toString()));
    }
  }

  /// Whether the text is exactly what its numbers would be written as.
  private static boolean isCanonical(String text) {
    if (text.length() != UUID_LENGTH) {
      return false;
    }
    for (int index = 0; index < UUID_LENGTH; index++) {
      char each = text.charAt(index);
      boolean dash = index == 8 || index == 13 || index == 18 || index == 23;
      boolean digit = (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
      if (dash ? each != '-' : !digit) {
        return false;
      }
    }
    return true;
  }

  private static long hex(String text, int from, int to) {
    long value = 0;
    for (int index = from; index < to; index++) {
      value = (value << 4) | Character.digit(text.charAt(index), 16);
    }
    return value;
  }
}
