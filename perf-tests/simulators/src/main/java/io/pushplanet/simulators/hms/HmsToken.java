package io.pushplanet.simulators.hms;

/// A push token Huawei was told about.
///
/// @param clientId the app it belongs to; empty = any
public record HmsToken(String clientId, boolean invalid) {}
