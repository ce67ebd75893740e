package io.pushplanet.gateway.alert;

import java.time.Instant;

/// An alert as it leaves the platform.
///
/// @param kind in words, see [Alerts.Kind#word()]
/// @param subject what it is about, such as `apns/production`
record Alert(long id, String kind, String app, String subject, String text, Instant at) {}
