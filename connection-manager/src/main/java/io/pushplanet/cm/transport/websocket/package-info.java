/// MQTT over WebSocket (RFC 6455): the upgrade, frames, control frames. Knows nothing of sockets
/// and nothing of MQTT.
@NullMarked
package io.pushplanet.cm.transport.websocket;

import org.jspecify.annotations.NullMarked;
