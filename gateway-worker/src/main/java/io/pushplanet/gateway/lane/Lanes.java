package io.pushplanet.gateway.lane;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.database.DatabasePermits;
import io.pushplanet.gateway.provider.Provider;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/// How many recipients each lane may have in hand, and has. Each lane has bounds of its own, so
/// that high priority never waits behind normal. Thread-safe.
public final class Lanes {
  /// Recipients in hand of a lane without a provider. A node is handed few frames at a time, and a
  /// parcel that waits too long for that falls back or is parked.
  private static final int MAX_OVER_MQTT = 1_024;

  /// So many devices of a message that was put off count as one request where its provider takes
  /// several: a quarter of the 64 that a message of the broker's carries, because after a failure
  /// fewer devices share a request.
  private static final int NEIGHBOURS = 16;

  private final Map<String, Lane> lanes = new HashMap<>();
  private final Map<Priority, Map<String, Lane>> atProviders = new EnumMap<>(Priority.class);

  /// The bounds of one lane.
  public static final class Lane {
    private final FairPermits permits;
    private final ReturningMessages returning;
    private final LongWaits longWaits;
    private final DatabasePermits databasePermits;
    private final int most;
    private final int returningTogether;

    /// Of the batches in hand, with those that have an outcome already.
    private final AtomicInteger recipients = new AtomicInteger();

    /// @param nanoTime as [System#nanoTime]
    Lane(int most, int returningTogether, DatabasePermits databasePermits, LongSupplier nanoTime) {
      this.most = most;
      this.returningTogether = returningTogether;
      this.databasePermits = databasePermits;
      this.permits = new FairPermits(most, this::requestsInHand, nanoTime);
      this.returning = new ReturningMessages(permits, nanoTime);
      this.longWaits = new LongWaits(most);
    }

    private int requestsInHand() {
      return Math.ceilDiv(recipients.get(), returningTogether);
    }

    /// For requests to the lane's provider.
    public FairPermits permits() {
      return permits;
    }

    /// The messages that got none of [#permits].
    public ReturningMessages returning() {
      return returning;
    }

    /// For devices, where the lane has no provider.
    public LongWaits longWaits() {
      return longWaits;
    }

    /// All lanes of a priority share them.
    public DatabasePermits databasePermits() {
      return databasePermits;
    }

    /// How many devices of a message that was put off are fetched back as one request.
    public int returningTogether() {
      return returningTogether;
    }

    public void take(int more) {
      recipients.addAndGet(more);
    }

    public void done(int fewer) {
      recipients.addAndGet(-fewer);
    }

    /// How many more recipients the lane may take; negative where it has more in hand than it can
    /// send to at once.
    public int room() {
      return most - recipients.get();
    }
  }

  /// @param maxInFlight unanswered requests of a lane, where its provider's connections carry as
  ///     many
  /// @param poolSize connections to MySQL
  public Lanes(List<Provider> providers, int maxInFlight, int poolSize, MeterRegistry meters) {
    Map<Channel, Provider> byChannel = new EnumMap<>(Channel.class);
    providers.forEach(provider -> byChannel.put(provider.channel(), provider));
    Map<Priority, DatabasePermits> databasePermits = new EnumMap<>(Priority.class);
    for (Priority priority : Priority.values()) {
      databasePermits.put(priority, new DatabasePermits(poolSize));
    }
    for (Channel channel : Channel.values()) {
      Provider provider = byChannel.get(channel);
      int most = Math.min(maxInFlight, provider == null ? MAX_OVER_MQTT : provider.mostAtOnce());
      for (Priority priority : Priority.values()) {
        int returningTogether = provider != null && provider.takesNeighbours() ? NEIGHBOURS : 1;
        Lane lane =
            new Lane(
                most,
                returningTogether,
                Objects.requireNonNull(databasePermits.get(priority)),
                System::nanoTime);
        lanes.put(Topology.lane(channel, priority), lane);
        if (provider != null) {
          atProviders
              .computeIfAbsent(priority, _ -> new HashMap<>())
              .put(Topology.lane(channel, priority), lane);
          Gauge.builder("pushplanet.provider.in.flight", lane.permits::inUse)
              .tag("lane", Topology.lane(channel, priority))
              .register(meters);
        }
      }
    }
  }

  public Lane lane(Channel channel, Priority priority) {
    return Objects.requireNonNull(lanes.get(Topology.lane(channel, priority)));
  }

  /// The lanes of a priority that have a provider, by name.
  public Map<String, Lane> atProviders(Priority priority) {
    return Map.copyOf(atProviders.getOrDefault(priority, Map.of()));
  }

  /// Ends the waits of requests that wait in vain for a permit; to be called several times a
  /// second.
  public void refuseStuck() {
    lanes.values().forEach(lane -> lane.permits.refuseStuck());
  }
}
