package io.pushplanet.dispatcher.access;

import io.pushplanet.common.message.AppId;

/// The caller of a request: an app, by one of its keys. A controller method takes it as an
/// argument.
///
/// @param mayRead whether the key has the scope to read, whatever the operation needs
public record Caller(AppId app, String keyId, boolean mayRead) {}
