package io.pushplanet.load.mqtt;

import io.pushplanet.common.access.Secret;
import java.time.Duration;

/// The contents of a CONNECT.
///
/// @param keepAlive in whole seconds
/// @param sessionLives how long the session outlives the connection, in whole seconds; zero: not at
///     all. MQTT 3.1.1 knows only these two
public record Connect(
    MqttVersion version,
    String clientId,
    String user,
    Secret password,
    Duration keepAlive,
    Duration sessionLives) {}
