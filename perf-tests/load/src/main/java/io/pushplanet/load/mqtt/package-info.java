/// The packets of MQTT that load programs write and read: without a client library, because
/// thousands of devices and attackers share a thread or a process.
@NullMarked
package io.pushplanet.load.mqtt;

import org.jspecify.annotations.NullMarked;
