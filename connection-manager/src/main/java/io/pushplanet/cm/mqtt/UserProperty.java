package io.pushplanet.cm.mqtt;

/// A name and value that the peers agreed on, not the protocol.
public record UserProperty(String name, String value) {}
