package io.pushplanet.simulators.hms;

/// A registered push token.
///
/// @param clientId the app it belongs to; empty: any
public record HmsToken(String clientId, boolean invalid) {}
