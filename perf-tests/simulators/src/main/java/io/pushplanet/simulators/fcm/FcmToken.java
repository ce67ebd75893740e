package io.pushplanet.simulators.fcm;

/// A registration token FCM was told about.
///
/// @param project the project it belongs to; empty = any
public record FcmToken(String project, boolean unregistered) {}
