package io.pushplanet.cm.mqtt;

/// The message that the server publishes for the client when the connection ends without
/// DISCONNECT.
public record Will(
    String topic, Binary payload, QoS qos, boolean retain, MqttProperties properties) {}
