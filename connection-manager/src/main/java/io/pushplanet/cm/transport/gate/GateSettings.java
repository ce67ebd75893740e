package io.pushplanet.cm.transport.gate;

/// How fast devices may connect. 0 is no limit.
///
/// @param connectsPerSecond of each listener; faster clients wait in the kernel's accept queue
/// @param addressConnectsPerSecond of one source address (IPv6: /64); faster clients are refused
/// @param addressBurst how many clients of one address may connect at once
/// @param addressFailuresPerSecond wrong credentials of one address; beyond that the address is
///     refused
/// @param maxHeld how many refused sockets may wait for their delayed close
/// @param unlimitedSources comma-separated address blocks (of a load balancer, say) whose addresses
///     are not counted
public record GateSettings(
    int connectsPerSecond,
    int addressConnectsPerSecond,
    int addressBurst,
    int addressFailuresPerSecond,
    int maxHeld,
    String unlimitedSources) {

  /// No limits.
  public static final GateSettings OPEN = new GateSettings(0, 0, 0, 0, 0, "");
}
