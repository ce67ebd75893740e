package io.pushplanet.dispatcher.push;

import io.pushplanet.common.device.DeviceId;

/// A device that no way leads to.
///
/// @param reason as its delivery tells it
/// @param action what to do about it
record NoWay(DeviceId device, String reason, String action) {}
