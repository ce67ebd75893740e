package io.pushplanet.load.fleet;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;

/// The login of a device over MQTT.
public record Device(AppId app, DeviceId id, Secret password, MqttVersion version) {}
