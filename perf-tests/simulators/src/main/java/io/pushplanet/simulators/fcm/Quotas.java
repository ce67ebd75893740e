package io.pushplanet.simulators.fcm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// FCM's quotas: 600,000 messages a minute for a project, in a bucket that is refilled each minute,
/// but not on the clock's minute; for a device 240 a minute and 5,000 an hour, and for a topic, on
/// request (https://firebase.google.com/docs/cloud-messaging/throttling-and-quotas).
///
/// Thread-safe.
public final class Quotas {
  /// The messages of a project per minute.
  public static final int PER_MINUTE = 600_000;

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final int MAX_BUCKETS = 100_000;

  private final Clock clock;

  @GuardedBy("this")
  private int perMinute = PER_MINUTE;

  @GuardedBy("this")
  private int perDeviceMinute = Integer.MAX_VALUE;

  @GuardedBy("this")
  private int perDeviceHour = Integer.MAX_VALUE;

  @GuardedBy("this")
  private int perTopicMinute = Integer.MAX_VALUE;

  @GuardedBy("this")
  private final Map<String, Bucket> buckets =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bucket> eldest) {
          return size() > MAX_BUCKETS;
        }
      };

  /// An exhausted quota.
  ///
  /// @param retryAfter until it is refilled
  public record Exceeded(String subject, String description, Duration retryAfter) {}

  private static final class Bucket {
    Instant fullAt;
    int taken;

    Bucket(Instant fullAt) {
      this.fullAt = fullAt;
    }
  }

  public Quotas(Clock clock) {
    this.clock = clock;
  }

  /// Changes the quotas and resets the counts.
  public synchronized void set(int projectPerMinute, int devicePerMinute, int devicePerHour) {
    if (projectPerMinute < 1 || devicePerMinute < 1 || devicePerHour < 1) {
      throw new IllegalArgumentException("a quota is at least 1");
    }
    perMinute = projectPerMinute;
    perDeviceMinute = devicePerMinute;
    perDeviceHour = devicePerHour;
    buckets.clear();
  }

  /// Changes the quota of one topic or one condition: Google does not publish its number.
  public synchronized void setTopic(int topicPerMinute) {
    if (topicPerMinute < 1) {
      throw new IllegalArgumentException("a quota is at least 1");
    }
    perTopicMinute = topicPerMinute;
    buckets.clear();
  }

  /// Takes one message from its project's quota, or returns the exhausted quota. Every message
  /// counts that reaches the project, even one that is answered with a client error: of these,
  /// Google leaves out only 429.
  public synchronized Optional<Exceeded> countProject(String project) {
    return taken(bucketOf(project), "messages of a project per minute", perMinute, MINUTE);
  }

  /// Takes one message to a topic or a condition, which [#countProject] has counted, or returns the
  /// exhausted quota. Then the message is answered with 429, and its project has it back.
  public synchronized Optional<Exceeded> countTopic(String project, String target) {
    Optional<Exceeded> exceeded = Optional.empty();
    if (perTopicMinute < Integer.MAX_VALUE) {
      exceeded =
          taken(
              "topic:" + project + target,
              "messages to a topic per minute",
              perTopicMinute,
              MINUTE);
    }
    exceeded.ifPresent(_ -> giveBack(project));
    return exceeded;
  }

  /// The same for a message to a device.
  public synchronized Optional<Exceeded> countDevice(String project, String device) {
    Optional<Exceeded> exceeded = Optional.empty();
    if (perDeviceMinute < Integer.MAX_VALUE) {
      exceeded =
          taken("device:" + device, "messages to a device per minute", perDeviceMinute, MINUTE);
    }
    if (exceeded.isEmpty() && perDeviceHour < Integer.MAX_VALUE) {
      exceeded =
          taken("device-hour:" + device, "messages to a device per hour", perDeviceHour, HOUR);
    }
    exceeded.ifPresent(_ -> giveBack(project));
    return exceeded;
  }

  private static String bucketOf(String project) {
    return "project:" + project;
  }

  private synchronized void giveBack(String project) {
    Bucket bucket = buckets.get(bucketOf(project));
    if (bucket != null && bucket.taken > 0) {
      bucket.taken--;
    }
  }

  @GuardedBy("this")
  private Optional<Exceeded> taken(String name, String what, int most, Duration period) {
    Instant now = clock.instant();
    Bucket bucket = buckets.computeIfAbsent(name, _ -> new Bucket(phase(name, now, period)));
    if (!now.isBefore(bucket.fullAt.plus(period))) {
      long periods = Duration.between(bucket.fullAt, now).dividedBy(period);
      bucket.fullAt = bucket.fullAt.plus(period.multipliedBy(periods));
      bucket.taken = 0;
    }
    if (bucket.taken < most) {
      bucket.taken++;
      return Optional.empty();
    }
    return Optional.of(
        new Exceeded(
            name.replace("device-hour:", "device:"),
            what,
            Duration.between(now, bucket.fullAt.plus(period))));
  }

  /// Every bucket is refilled at another second of the minute.
  private static Instant phase(String name, Instant now, Duration period) {
    return now.minusMillis(Math.floorMod(name.hashCode() * 0x9E3779B9, (int) period.toMillis()));
  }
}
