package io.pushplanet.dispatcher.registration;

import io.pushplanet.common.device.DeviceId;
import java.time.Instant;

/// A device with its registration, as its rows have it.
public record RegisteredDevice(
    DeviceId device,
    Registration registration,
    Instant createdAt,
    Instant updatedAt,
    Instant seenAt) {}
