package io.pushplanet.dispatcher.device;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Handovers;
import io.pushplanet.dispatcher.debt.RedisDebts;
import java.util.List;
import org.springframework.stereotype.Component;

/// Ends the MQTT sessions of devices that have another user now. The node still has messages that
/// were sent on such a session and not acknowledged, and messages that it has read from the inbox,
/// and would deliver them to the new user. A session that cannot be ended at once is ended when
/// Redis is back ([RedisDebts]). Thread-safe.
@Component
class FormerUserSessions implements AutoCloseable {
  private final Handovers handovers;
  private final RedisDebts debts;

  FormerUserSessions(RedisLink redis, MeterRegistry meters) {
    this.handovers = new Handovers(redis);
    // One at a time, so that no device loses its new session, too, because the call for the next
    // device failed.
    this.debts = new RedisDebts("sessions", 1, some -> some.forEach(handovers::handOver), meters);
    debts.start();
  }

  /// Gives the device a new session ([Handovers#handOver]). Its unacknowledged messages are dropped
  /// with the old one; those that are still for it come from the inbox.
  void end(DeviceKey device) {
    try {
      handovers.handOver(device);
    } catch (RedisUnavailable away) {
      debts.owe(List.of(device), away);
    }
  }

  @Override
  public void close() {
    debts.close();
  }
}
