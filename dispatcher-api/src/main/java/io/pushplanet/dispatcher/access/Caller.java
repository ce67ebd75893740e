package io.pushplanet.dispatcher.access;

import io.pushplanet.common.message.AppId;

/// The caller of a request: an app, by one of its keys. A controller method takes it as an
/// argument.
public record Caller(AppId app, String keyId) {}
