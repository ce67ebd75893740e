/// Hands messages to the connection managers over MQTT connections that frames share.
@NullMarked
package io.pushplanet.gateway.node;

import org.jspecify.annotations.NullMarked;
