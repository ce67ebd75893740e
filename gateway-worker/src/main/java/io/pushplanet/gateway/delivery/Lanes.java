package io.pushplanet.gateway.delivery;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.wire.Topology;
import io.pushplanet.gateway.provider.Provider;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/// What each lane may have in hand, and has: bounds of its own for each, so that high never waits behind normal. Thread-safe.
final class Lanes {
  /// Recipients in hand of a lane without a provider. A node is handed few frames at a time, and who waits for that for too long is
  /// sent elsewhere.
  private static final int MOST_OVER_MQTT = 1_024;

  private final Map<String, Lane> lanes = new HashMap<>();

  /// One lane's part.
  static final class Lane {
    /// Requests to its provider.
    final Places places;

    /// For devices, where it has no provider.
    final LongWaits longWaits;

    /// Those of all lanes of its priority.
    final DatabaseTurns databaseTurns;

    private final int most;

    /// Of the batches in hand, also those that have been answered.
    private final AtomicInteger recipients = new AtomicInteger();

    private Lane(int most, DatabaseTurns databaseTurns) {
      this.most = most;
      this.databaseTurns = databaseTurns;
      this.places = new Places(most, System::nanoTime);
      this.longWaits = new LongWaits(most);
    }

    void take(int more) {
      recipients.addAndGet(more);
    }

    void done(int fewer) {
      recipients.addAndGet(-fewer);
    }

    /// For how many more recipients; negative when it has more in hand than it can send to at once.
    int room() {
      return most - recipients.get();
    }
  }

  /// @param mostInFlight requests of a lane without an answer, where its provider's connections carry as many
  /// @param poolSize connections to MySQL
  Lanes(List<Provider> providers, int mostInFlight, int poolSize, DeliveryMetrics metrics) {
    Map<Channel, Provider> byChannel = new EnumMap<>(Channel.class);
    providers.forEach(provider -> byChannel.put(provider.channel(), provider));
    Map<Priority, DatabaseTurns> databaseTurns = new EnumMap<>(Priority.class);
    for (Priority priority : Priority.values()) {
      databaseTurns.put(priority, new DatabaseTurns(poolSize));
    }
    for (Channel channel : Channel.values()) {
      Provider provider = byChannel.get(channel);
      int most = Math.min(mostInFlight, provider == null ? MOST_OVER_MQTT : provider.mostAtOnce());
      for (Priority priority : Priority.values()) {
        Lane lane = new Lane(most, Objects.requireNonNull(databaseTurns.get(priority)));
        lanes.put(Topology.lane(channel, priority), lane);
        if (provider != null) {
          metrics.inFlight(Topology.lane(channel, priority), lane.places::taken);
        }
      }
    }
  }

  Lane lane(Channel channel, Priority priority) {
    return Objects.requireNonNull(lanes.get(Topology.lane(channel, priority)));
  }

  /// Lets those give up who wait in vain for a place; to be called several times a second.
  void look() {
    lanes.values().forEach(lane -> lane.places.look());
  }
}
