package io.pushplanet.cm.uplink;

/// @param bytes largest uplink
/// @param inFlight publishes of one device that wait for the broker's confirm
/// @param perSecond what one device may publish; 0 for no limit
/// @param burst how much one device may publish at once
/// @param maxOpen events of all devices that wait for the broker's confirm
public record UplinkSettings(int bytes, int inFlight, int perSecond, int burst, int maxOpen) {}
