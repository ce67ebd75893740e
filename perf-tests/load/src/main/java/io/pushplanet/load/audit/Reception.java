package io.pushplanet.load.audit;

import io.pushplanet.common.device.DeviceId;

/// One message at one device.
public record Reception(String message, DeviceId device) {}
