package io.pushplanet.dispatcher.push;

import io.pushplanet.common.device.DeviceId;

/// A device that no channel leads to.
///
/// @param reason as its failed delivery states it
/// @param action the caller's remedy
record Unreachable(DeviceId device, String reason, String action) {}
