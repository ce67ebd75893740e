package io.pushplanet.load.audit;

import io.pushplanet.common.device.DeviceId;

/// That a node took a device over from another one, as the directory told it.
///
/// @param node its place in the run's list of nodes
/// @param epochMillis the claim's epoch, which is the time of the claim
public record Claim(DeviceId device, int node, long epochMillis) {}
