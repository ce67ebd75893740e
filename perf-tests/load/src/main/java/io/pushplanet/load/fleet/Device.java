package io.pushplanet.load.fleet;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.load.mqtt.ClientPackets;
import io.pushplanet.load.mqtt.Connect;
import io.pushplanet.load.mqtt.MqttVersion;
import java.time.Duration;

/// The login of a device over MQTT.
public record Device(AppId app, DeviceId id, Secret password, MqttVersion version) {
  private static final Duration SESSION_LIVES = Duration.ofHours(1);

  /// Its CONNECT.
  byte[] connect(FleetSettings settings) {
    return ClientPackets.connect(
        new Connect(
            version,
            id.value(),
            app.value(),
            password,
            settings.keepAlive(),
            settings.forgets() ? Duration.ZERO : SESSION_LIVES));
  }
}
