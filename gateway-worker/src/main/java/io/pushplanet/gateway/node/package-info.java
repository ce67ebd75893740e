/// Hands messages to the connection managers over pooled MQTT connections.
@NullMarked
package io.pushplanet.gateway.node;

import org.jspecify.annotations.NullMarked;
