package io.pushplanet.common.session;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;

/// A device across all apps.
public record DeviceKey(AppId app, DeviceId device) {
  /// Neither id can contain a slash.
  String text() {
    return app.value() + "/" + device.value();
  }
}
