package io.pushplanet.simulators.apns;

/// A device token APNs was told about.
///
/// @param environment `production` or `sandbox`
/// @param topic the bundle id it belongs to; empty = any
/// @param unregisteredMillis since when the app is gone from the device; 0 = it is there
public record ApnsToken(String environment, String topic, long unregisteredMillis) {}
