package io.pushplanet.load.audit;

import io.pushplanet.common.device.DeviceId;

/// A node's claim of a device that another node had, as the directory published it.
///
/// @param node its place in the run's list of nodes
/// @param epochMillis the claim's epoch, which is the time of the claim
public record Claim(DeviceId device, int node, long epochMillis) {}
