package io.pushplanet.gateway.lane;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.lane.FairPermits.App;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongSupplier;

/// A lane's messages that were put off to `later` because they got no permit ([FairPermits]):
/// which apps have some, and how many of them to fetch back now. A fetched message is expected:
/// permits are left for it until it arrives, or until it must be with another worker. Of messages
/// that other workers put off, or this one before it was started, [#markPutOff] tells.
///
/// Thread-safe: under the lock of the permits.
public final class ReturningMessages {
  /// A message waits that long only where no worker fetches. Like any retry's, the wait becomes up
  /// to a quarter longer.
  static final Duration SOONEST_BACK = Duration.ofMinutes(5);

  static final Duration LATEST_BACK = Duration.ofHours(6);

  /// Between two messages, of all stuck apps, that come back without being fetched: each costs
  /// MySQL and the broker some writes.
  static final Duration BACK_EVERY = Duration.ofMillis(10);

  /// From a fetch that found nothing to the next one.
  static final Duration FETCH_AGAIN = Duration.ofSeconds(1);

  /// After so many fetches that found nothing, the app is no longer asked about. A message that was
  /// put off may still be being written. Fetches are counted rather than time, because while MySQL
  /// is away nothing is fetched and nothing is written.
  static final int EMPTY_FETCHES = 60;

  /// Since the first message of a wave was fetched. A message that has not arrived by then is with
  /// another worker, or behind a long queue. Where most of a wave have not arrived, the next wave
  /// is given twice as long: otherwise that queue would grow by a wave every ten seconds.
  static final Duration ON_ITS_WAY = Duration.ofSeconds(10);

  /// Until a wave is given about five minutes.
  private static final int MAX_DOUBLINGS = 5;

  /// A worker that knows only that messages wait for a provider knows it after so many answers.
  private static final int KNOWN_AFTER = 6;

  /// What an app has in `later`, or on its way back.
  static final class OfApp {
    /// Whether any of its messages is in `later`, as far as is known.
    boolean inLater;

    /// When the app's last message that was put off comes back by itself.
    long lastBackNanos;

    /// Fetches in a row that found nothing.
    int emptyFetches;

    long nextFetchNanos;

    /// Messages that were fetched and have not arrived.
    int expected;

    /// When the first message of this wave was fetched, and how many have been.
    long waveNanos;

    int waveSize;

    /// How often [#ON_ITS_WAY] is doubled for this wave.
    int doublings;

    private OfApp(long nowNanos) {
      this.lastBackNanos = nowNanos;
      this.nextFetchNanos = nowNanos;
    }
  }

  private final FairPermits permits;
  private final LongSupplier nanoTime;

  /// Of all apps.
  @GuardedBy("permits.lock")
  private int expected;

  /// How often [#appsInLater] was called.
  @GuardedBy("permits.lock")
  private int rounds;

  /// @param nanoTime as [System#nanoTime]
  ReturningMessages(FairPermits permits, LongSupplier nanoTime) {
    this.permits = permits;
    this.nanoTime = nanoTime;
  }

  /// A message got no permit, and is put off.
  ///
  /// @return the delay after which it comes back even if it is not fetched, from [#SOONEST_BACK] to
  ///     [#LATEST_BACK]. It may get no permit then either, so at most one message comes back every
  ///     [#BACK_EVERY]
  public Duration putOff(AppId name) {
    permits.lock.lock();
    try {
      OfApp app = inLater(permits.app(name));
      long now = nanoTime.getAsLong();
      app.lastBackNanos =
          Math.clamp(
              app.lastBackNanos + Math.max(1, permits.stuckApps()) * BACK_EVERY.toNanos(),
              now + SOONEST_BACK.toNanos(),
              now + LATEST_BACK.toNanos());
      return Duration.ofNanos(app.lastBackNanos - now);
    } finally {
      permits.lock.unlock();
    }
  }

  /// Messages of an app are in `later`, whichever worker put them off. Where nothing is known of
  /// the app's provider, they are fetched one at a time.
  public void markPutOff(AppId name) {
    permits.lock.lock();
    try {
      App app = permits.apps.get(name);
      if (app == null) {
        app = permits.app(name);
        app.answersWanted = KNOWN_AFTER;
      }
      inLater(app);
    } finally {
      permits.lock.unlock();
    }
  }

  @GuardedBy("permits.lock")
  private OfApp inLater(App app) {
    OfApp returning = app.returning;
    if (returning == null) {
      returning = new OfApp(nanoTime.getAsLong());
      app.returning = returning;
    }
    returning.inLater = true;
    returning.emptyFetches = 0;
    return returning;
  }

  /// The apps with messages in `later`, as far as is known. Each call begins with another app:
  /// permits that [#roomFor] promises to one app are not promised to the next ones.
  public List<AppId> appsInLater() {
    permits.lock.lock();
    try {
      List<AppId> inLater = new ArrayList<>();
      permits.apps.forEach((name, app) -> {
        if (app.returning != null && app.returning.inLater) {
          inLater.add(name);
        }
      });
      Collections.rotate(inLater, rounds++);
      return inLater;
    } finally {
      permits.lock.unlock();
    }
  }

  /// How many of an app's messages to fetch now: as many as would get a permit, besides those of
  /// all apps that are expected.
  public int roomFor(AppId name) {
    permits.lock.lock();
    try {
      App app = permits.apps.get(name);
      OfApp returning = app == null ? null : app.returning;
      long now = nanoTime.getAsLong();
      if (app == null || returning == null || now - returning.nextFetchNanos < 0) {
        return 0;
      }
      giveUpOverdue(returning, now);
      return permits.availableTo(app, returning.expected, expected);
    } finally {
      permits.lock.unlock();
    }
  }

  /// To be called before messages are fetched: the first may arrive before the last is fetched.
  public void expect(AppId name, int messages) {
    permits.lock.lock();
    try {
      App app = permits.apps.get(name);
      if (app == null || app.returning == null) {
        return;
      }
      OfApp returning = app.returning;
      if (returning.expected == 0) {
        returning.waveNanos = nanoTime.getAsLong();
        returning.waveSize = 0;
      }
      returning.waveSize += messages;
      returning.expected += messages;
      expected += messages;
    } finally {
      permits.lock.unlock();
    }
  }

  /// Reports the result of a fetch. An app of which nothing was found is asked about again after
  /// [#FETCH_AGAIN], and no more after [#EMPTY_FETCHES].
  ///
  /// @param messages how many were expected
  /// @param found how many of these were fetched
  public void fetched(AppId name, int messages, int found) {
    permits.lock.lock();
    try {
      App app = permits.apps.get(name);
      if (app == null || app.returning == null) {
        return;
      }
      OfApp returning = app.returning;
      expectFewer(returning, messages - found);
      returning.waveSize -= messages - found;
      if (found > 0) {
        returning.emptyFetches = 0;
        return;
      }
      returning.nextFetchNanos = nanoTime.getAsLong() + FETCH_AGAIN.toNanos();
      returning.emptyFetches++;
      if (returning.emptyFetches >= EMPTY_FETCHES) {
        returning.inLater = false;
        expectFewer(returning, returning.expected);
        permits.forgetIfIdle(name, app);
      }
    } finally {
      permits.lock.unlock();
    }
  }

  /// A fetch failed, so it says nothing of what is in `later`, and the messages are not on their
  /// way.
  ///
  /// @param messages how many were expected
  public void notFetched(AppId name, int messages) {
    permits.lock.lock();
    try {
      App app = permits.apps.get(name);
      if (app != null && app.returning != null) {
        expectFewer(app.returning, messages);
        app.returning.waveSize -= messages;
      }
    } finally {
      permits.lock.unlock();
    }
  }

  /// A message that was put off is here; to be called before it acquires a permit. A retry cannot
  /// be told from a fetched message, so a retry has one message fetched too many.
  public void arrived(AppId name) {
    permits.lock.lock();
    try {
      App app = permits.apps.get(name);
      if (app == null || app.returning == null || app.returning.expected == 0) {
        return;
      }
      expectFewer(app.returning, 1);
      if (app.returning.expected == 0) {
        app.returning.doublings = 0;
      }
    } finally {
      permits.lock.unlock();
    }
  }

  /// A message was put off before it asked for a permit, so its provider is not to be asked just
  /// now: if more were fetched, they would only be written to `later` once more.
  public void providerNotAsked(AppId name) {
    permits.lock.lock();
    try {
      App app = permits.apps.get(name);
      if (app != null) {
        permits.wantAnswer(app);
      }
    } finally {
      permits.lock.unlock();
    }
  }

  @GuardedBy("permits.lock")
  private void giveUpOverdue(OfApp app, long now) {
    if (app.expected == 0 || now - app.waveNanos < ON_ITS_WAY.toNanos() << app.doublings) {
      return;
    }
    boolean most = app.expected > app.waveSize / 2;
    app.doublings = most ? Math.min(app.doublings + 1, MAX_DOUBLINGS) : 0;
    expectFewer(app, app.expected);
  }

  /// @param most some of these may have arrived meanwhile
  @GuardedBy("permits.lock")
  private void expectFewer(OfApp app, int most) {
    int messages = Math.min(app.expected, most);
    app.expected -= messages;
    expected -= messages;
  }
}
