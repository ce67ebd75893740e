package io.pushplanet.simulators.apns;

/// A registered device token.
///
/// @param environment `production` or `sandbox`
/// @param topic the bundle id it belongs to; empty: any
/// @param unregisteredMillis since when the app is gone from the device; 0: it is installed
public record ApnsToken(String environment, String topic, long unregisteredMillis) {}
