package io.pushplanet.gateway.fcm;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.common.redis.RedisLink;
import java.time.Clock;
import java.util.UUID;

/// The paces of all projects that this worker sends for, shared with the other workers through
/// Redis. Thread-safe.
final class ProjectPaces implements AutoCloseable {
  private static final int MAX_PROJECTS = 10_000;

  private final RedisLink redis;
  private final int perMinute;
  private final Clock clock;
  private final PaceMetrics metrics;
  private final String worker = UUID.randomUUID().toString();
  private final Cache<String, ProjectPace> paces =
      Caffeine.newBuilder().maximumSize(MAX_PROJECTS).build();

  /// @param redis is closed with this
  ProjectPaces(RedisLink redis, int perMinute, Clock clock, PaceMetrics metrics) {
    this.redis = redis;
    this.perMinute = perMinute;
    this.clock = clock;
    this.metrics = metrics;
  }

  ProjectPace of(String project) {
    return paces.get(
        project,
        name ->
            new ProjectPace(
                new RedisSchedule(redis, name, worker, perMinute, clock, metrics), clock));
  }

  @Override
  public void close() {
    redis.close();
  }
}
