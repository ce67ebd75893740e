package io.pushplanet.common.session;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;

/// A device across all apps.
public record DeviceKey(AppId app, DeviceId device) {
  static DeviceKey parse(String text) {
    int slash = text.indexOf('/');
    return new DeviceKey(
        new AppId(text.substring(0, Math.max(0, slash))), new DeviceId(text.substring(slash + 1)));
  }

  /// Neither id can contain a slash.
  public String text() {
    return app.value() + "/" + device.value();
  }
}
