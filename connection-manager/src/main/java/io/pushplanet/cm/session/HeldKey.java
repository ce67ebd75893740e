package io.pushplanet.cm.session;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import java.util.UUID;

/// A device's key as the session table holds it. The dispatcher's device ids are UUIDs: two numbers
/// take 32 bytes, where the text and its wrapper objects take 104. Keys are equal exactly when
/// their devices are equal.
sealed interface HeldKey {
  int UUID_LENGTH = 36;

  DeviceKey device();

  static HeldKey of(DeviceKey device) {
    String text = device.device().value();
    if (text.length() != UUID_LENGTH) {
      return new Text(device);
    }
    long high = 0;
    long low = 0;
    for (int index = 0; index < UUID_LENGTH; index++) {
      char each = text.charAt(index);
      boolean dash = index == 8 || index == 13 || index == 18 || index == 23;
      int digit = digit(each);
      if (dash ? each != '-' : digit < 0) {
        return new Text(device);
      }
      if (!dash && index < 18) {
        high = (high << 4) | digit;
      } else if (!dash) {
        low = (low << 4) | digit;
      }
    }
    return new Uuid(device.app(), high, low);
  }

  /// Returns -1 for a character that is not a lower-case hexadecimal digit.
  private static int digit(char each) {
    if (each >= '0' && each <= '9') {
      return each - '0';
    }
    return each >= 'a' && each <= 'f' ? each - 'a' + 10 : -1;
  }

  /// A device id that is not a lower-case UUID.
  record Text(DeviceKey device) implements HeldKey {}

  record Uuid(AppId app, long high, long low) implements HeldKey {
    @Override
    public DeviceKey device() {
      return new DeviceKey(app, new DeviceId(new UUID(high, low).toString()));
    }
  }
}
