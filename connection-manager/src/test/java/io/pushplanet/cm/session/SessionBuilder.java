package io.pushplanet.cm.session;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.time.InstantSource;

/// Builds sessions of devices that take any packet, with a node's default limits unless a test says
/// otherwise.
public final class SessionBuilder {
  /// A node's defaults, except that no path counts as dead.
  private static final SessionLimits LIMITS =
      new SessionLimits(16, 128, Duration.ofSeconds(2), Duration.ZERO, Duration.ofMinutes(1));

  private final DeviceKey device;
  private long epoch = 1;
  private long passwordEnds = Long.MAX_VALUE;
  private int window = LIMITS.window();
  private int largestPacket = 1 << 20;

  private SessionBuilder(DeviceKey device) {
    this.device = device;
  }

  public static SessionBuilder aSession(DeviceKey device) {
    return new SessionBuilder(device);
  }

  /// What all sessions of a test have in common.
  public static DeviceSession.Shared shared(InstantSource clock) {
    return shared(new SessionMetrics(new SimpleMeterRegistry()), clock);
  }

  public static DeviceSession.Shared shared(SessionMetrics metrics, InstantSource clock) {
    return shared(metrics, new LateAcknowledgements(LateAcknowledgements.MAX, _ -> {}), clock);
  }

  public static DeviceSession.Shared shared(
      SessionMetrics metrics, LateAcknowledgements late, InstantSource clock) {
    return new DeviceSession.Shared(LIMITS, metrics, late, clock);
  }

  public SessionBuilder epoch(long number) {
    epoch = number;
    return this;
  }

  /// @param second of the epoch
  public SessionBuilder passwordEnds(long second) {
    passwordEnds = second;
    return this;
  }

  public SessionBuilder window(int messages) {
    window = messages;
    return this;
  }

  public SessionBuilder largestPacket(int bytes) {
    largestPacket = bytes;
    return this;
  }

  public DeviceSession at(DeviceSession.Owner client, DeviceSession.Shared shared) {
    return new DeviceSession(
        device,
        epoch,
        passwordEnds,
        new SessionTerms(window, largestPacket, 3_600),
        shared,
        client);
  }
}
