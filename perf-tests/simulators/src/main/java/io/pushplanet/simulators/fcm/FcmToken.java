package io.pushplanet.simulators.fcm;

/// A registered registration token.
///
/// @param project the project it belongs to; empty: any
public record FcmToken(String project, boolean unregistered) {}
