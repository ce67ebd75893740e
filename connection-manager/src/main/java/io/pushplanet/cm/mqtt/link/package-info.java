/// MQTT on one socket: frames in, packets out, the version and limits of the peer, keep-alive.
@NullMarked
package io.pushplanet.cm.mqtt.link;

import org.jspecify.annotations.NullMarked;
