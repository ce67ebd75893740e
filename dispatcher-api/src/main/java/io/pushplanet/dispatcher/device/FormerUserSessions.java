package io.pushplanet.dispatcher.device;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.Handovers;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.dispatcher.debt.RedisDebts;
import java.util.List;
import org.springframework.stereotype.Component;

/// MQTT sessions that are over because their device has another user. A node has what was sent on them and not acknowledged, and what it has read of the inbox, and would bring it
/// to whoever has the device by then. What cannot be ended at once is ended when Redis is back ([RedisDebts]). Thread-safe.
@Component
class FormerUserSessions implements AutoCloseable {
  private final Handovers handovers;
  private final RedisDebts debts;

  FormerUserSessions(RedisLink redis, MeterRegistry meters) {
    this.handovers = new Handovers(redis);
    // One by one: no device is to begin anew once more because the next one could not.
    this.debts = new RedisDebts("sessions", 1, some -> some.forEach(handovers::handOver), meters);
    debts.start();
  }

  /// The device begins anew ([Handovers#handOver]): what it had unacknowledged is dropped, and comes from the inbox where it still
  /// may have it.
  void end(DeviceKey device) {
    try {
      handovers.handOver(device);
    } catch (DirectoryUnavailable away) {
      debts.owe(List.of(device), away);
    }
  }

  @Override
  public void close() {
    debts.close();
  }
}
