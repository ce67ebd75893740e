package io.pushplanet.load.fleet;

/// How a fleet is doing.
///
/// @param ready devices that are subscribed just now
/// @param connects handshakes that ended with a SUBACK
/// @param cuts connections that ended without our wish after that
/// @param refused handshakes the server refused or that did not come through
/// @param received messages, repeats included
public record FleetCounts(
    int devices, int ready, long connects, long cuts, long refused, long received) {}
