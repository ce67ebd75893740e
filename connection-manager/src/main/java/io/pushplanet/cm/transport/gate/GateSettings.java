package io.pushplanet.cm.transport.gate;

/// How fast devices may come. 0 is no limit.
///
/// @param connectsPerSecond of each listener; what comes faster waits in the kernel's line
/// @param addressConnectsPerSecond of one source address (IPv6: /64); what comes faster is turned away
/// @param addressBurst how many of one address may come at once
/// @param addressFailuresPerSecond refused credentials of one address; past it the address is turned away
/// @param mostHeld sockets that wait for their random close
/// @param unlimitedSources address blocks (a load balancer, say) whose addresses are not counted, comma-separated
public record GateSettings(
    int connectsPerSecond,
    int addressConnectsPerSecond,
    int addressBurst,
    int addressFailuresPerSecond,
    int mostHeld,
    String unlimitedSources) {

  /// Nobody is limited.
  public static final GateSettings OPEN = new GateSettings(0, 0, 0, 0, 0, "");
}
