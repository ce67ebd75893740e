package io.pushplanet.load.fleet;

import io.pushplanet.common.device.DeviceId;

/// One connection of a device at one node. Times are `System.nanoTime()`.
///
/// @param node its place in the fleet's list
/// @param welcomedNanos when the CONNACK was read
/// @param firstNanos when its first message was read; undefined without messages
/// @param lastNanos when its last message was read
/// @param messages read on it, including repeats
public record Stay(
    DeviceId device,
    int node,
    long beganNanos,
    long welcomedNanos,
    long firstNanos,
    long lastNanos,
    long messages) {}
