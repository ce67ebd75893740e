package io.pushplanet.cm.mqtt;

/// A name and value whose meaning the peers have agreed on; the protocol does not define it.
public record UserProperty(String name, String value) {}
