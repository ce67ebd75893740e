package io.pushplanet.cm.mqtt;

/// What the server says in the client's name when the connection ends without a goodbye.
public record Will(
    String topic, Binary payload, QoS qos, boolean retain, MqttProperties properties) {}
