package io.pushplanet.cm.keepalive;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.time.InstantSource;
import java.util.random.RandomGenerator;

/// Learns how long idle connections survive in one network. Address translators forget a silent
/// connection after some minutes without telling either side; a client that pings more often than
/// it must keeps its radio awake.
///
/// For each keep-alive interval it counts the silences that ended with a packet of the device, and
/// those that ended the connection. An interval is *proven* after [#ENOUGH] silences of which at
/// most 5 % ended the connection. It is *deadly* after [#DEATHS] ends, if they are more than an
/// eighth of these ends and of the survived silences of that length or more; below that,
/// connections may have ended for other reasons. Both counts are halved from time to time, so that
/// a network that has changed, or had an outage, is soon judged anew. Thread-safe; takes a short
/// lock, about once per ping.
public final class Network {
  /// Shorter silences prove nothing: every translator waits longer
  /// (https://www.rfc-editor.org/rfc/rfc5382#section-5 asks for two hours, the worst mobile ones
  /// allow a minute or two).
  public static final int SHORTEST_SECONDS = 27;

  private static final int[] INTERVALS_SECONDS = {
    30, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1800
  };
  private static final int FIRST_ADVISED = 1;
  private static final int ENOUGH = 50;
  private static final int DEATHS = 7;
  private static final int TOLERATED_ONE_IN = 20;
  private static final int DEADLY_ONE_IN = 8;
  private static final int MAX_COUNTED = 1_000;
  private static final int PROBE_ONE_IN = 16;
  private static final long HALF_LIFE_MILLIS = Duration.ofHours(6).toMillis();

  private final InstantSource clock;

  @GuardedBy("this")
  private final int[] survived = new int[INTERVALS_SECONDS.length];

  @GuardedBy("this")
  private final int[] died = new int[INTERVALS_SECONDS.length];

  @GuardedBy("this")
  private long agedMillis;

  private volatile long usedMillis;

  Network(InstantSource clock) {
    this.clock = clock;
    this.agedMillis = clock.millis();
    this.usedMillis = agedMillis;
  }

  /// A silence of this length ended with a packet of the device.
  ///
  /// @param promisedSeconds the keep-alive if a ping ended the silence, else 0: clients ping up to
  ///     half an interval early, but only the interval can be advised
  public void survived(int idleSeconds, int promisedSeconds) {
    int silence =
        promisedSeconds > 0 && idleSeconds * 2 >= promisedSeconds ? promisedSeconds : idleSeconds;
    count(true, longestWithin(silence));
  }

  /// A silence of this length ended the connection.
  public void died(int idleSeconds) {
    count(false, shortestAround(idleSeconds));
  }

  private synchronized void count(boolean hasSurvived, int interval) {
    age();
    if (interval < 0) {
      return;
    }
    (hasSurvived ? survived : died)[interval]++;
    if (survived[interval] + died[interval] > MAX_COUNTED) {
      survived[interval] /= 2;
      died[interval] /= 2;
    }
  }

  /// The keep-alive for a device that wishes for `wishedSeconds`: its wish, unless that is deadly
  /// here or a longer interval is proven. One device in [#PROBE_ONE_IN] tries the next longer
  /// interval, because otherwise it would never be proven.
  public synchronized int advise(int wishedSeconds, RandomGenerator random) {
    age();
    int deadly = firstDeadly();
    if (deadly < INTERVALS_SECONDS.length && shortestAround(wishedSeconds) >= deadly) {
      return INTERVALS_SECONDS[Math.max(FIRST_ADVISED, deadly - 1)];
    }
    int proven = longestProvenBelow(deadly);
    if (proven < FIRST_ADVISED || INTERVALS_SECONDS[proven] < wishedSeconds) {
      return wishedSeconds;
    }
    boolean probes = proven + 1 < deadly && random.nextInt(PROBE_ONE_IN) == 0;
    return INTERVALS_SECONDS[probes ? proven + 1 : proven];
  }

  long usedMillis() {
    return usedMillis;
  }

  /// A connection that survives a longer silence would have survived this one, too. So survivors of
  /// longer silences show that the ends at this interval had other reasons.
  @GuardedBy("this")
  private int firstDeadly() {
    int first = INTERVALS_SECONDS.length;
    int survivors = 0;
    for (int interval = INTERVALS_SECONDS.length - 1; interval >= 0; interval--) {
      survivors += survived[interval];
      if (died[interval] >= DEATHS && died[interval] * DEADLY_ONE_IN > survivors + died[interval]) {
        first = interval;
      }
    }
    return first;
  }

  @GuardedBy("this")
  private int longestProvenBelow(int deadly) {
    for (int interval = deadly - 1; interval >= 0; interval--) {
      if (survived[interval] + died[interval] >= ENOUGH
          && died[interval] * TOLERATED_ONE_IN <= survived[interval] + died[interval]) {
        return interval;
      }
    }
    return -1;
  }

  /// The longest interval within these seconds, with a tolerance of a tenth; -1 if there is none. A
  /// connection that survived a silence would have survived every shorter one.
  private static int longestWithin(int seconds) {
    int found = -1;
    while (found + 1 < INTERVALS_SECONDS.length
        && INTERVALS_SECONDS[found + 1] * 9L <= seconds * 10L) {
      found++;
    }
    return found;
  }

  /// The shortest interval that covers these seconds, with a tolerance of a tenth; -1 for silences
  /// that prove nothing. A connection that a silence ended would not have survived a longer one.
  private static int shortestAround(int seconds) {
    if (seconds < SHORTEST_SECONDS) {
      return -1;
    }
    int found = 0;
    while (found + 1 < INTERVALS_SECONDS.length && INTERVALS_SECONDS[found] * 11L < seconds * 10L) {
      found++;
    }
    return found;
  }

  @GuardedBy("this")
  private void age() {
    long now = clock.millis();
    usedMillis = now;
    for (; now - agedMillis >= HALF_LIFE_MILLIS; agedMillis += HALF_LIFE_MILLIS) {
      boolean any = false;
      for (int interval = 0; interval < INTERVALS_SECONDS.length; interval++) {
        survived[interval] /= 2;
        died[interval] /= 2;
        any |= survived[interval] + died[interval] > 0;
      }
      if (!any) {
        agedMillis = now;
        return;
      }
    }
  }
}
