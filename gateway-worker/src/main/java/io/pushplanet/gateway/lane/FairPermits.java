package io.pushplanet.gateway.lane;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.order.WaitQueue;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// A lane's permits for requests to its provider, shared by apps so that no app can hold them all:
///
/// - An app may hold [#SHARE] times as many as are free: one app alone four fifths, two that flood
///   four ninths each. There is always a permit for one more app.
/// - An app whose answers take longer than [#SLOW] may hold one [#OF_A_SLOW_APP]th. Where its
///   provider does answer, it may hold more, as long as the lane has less than half of the
///   requests in hand that it may have: a request keeps the broker's message that it came in,
///   with all its other recipients, and the lane's next messages wait behind it.
/// - Where an app has all the permits that it may hold, and it is slow or no answer has come for
///   [#PATIENCE], its requests do not wait for a permit: a waiting request keeps its broker's
///   message, and the lane has few of these. The message is put off to `later`, and
///   [ReturningMessages] says how many to fetch back.
///
/// An app's requests get permits in the order in which they came. While a full queue is worked off,
/// thousands of requests wait here at once, and a virtual thread that waits with a timeout wakes
/// the scheduler's timer thread twice. So they wait without one, and [#refuseStuck] ends waits in
/// vain.
///
/// Thread-safe; calls block.
public final class FairPermits {
  static final Duration SLOW = Duration.ofSeconds(2);
  static final Duration PATIENCE = Duration.ofSeconds(3);

  private static final int SHARE = 4;
  private static final int OF_A_SLOW_APP = 8;

  /// How much the latest answer counts in the averages.
  private static final double WEIGHT = 0.125;

  /// What a request that had a permit shows about its provider.
  public enum Response {
    ANSWERED,
    /// No answer came, or there was no connection.
    NO_ANSWER,
    /// The request was not sent: a rest, a paused credential, or the message ended before. A
    /// request that held its permit for long all the same waited for something in vain, which
    /// counts as [#NO_ANSWER].
    NOT_ASKED
  }

  /// An app that holds permits, waits for one, or has messages in `later`.
  final class App {
    final WaitQueue waiting = new WaitQueue(lock);
    int held;
    double usualNanos;

    /// The share of requests without an answer, by the same weights.
    double unanswered;

    /// How many answers must come before more than one message that was put off is fetched at a
    /// time. New messages do not depend on it: they must not suffer for what is not known of the
    /// provider.
    int answersWanted;

    /// When the app last got its first permit or gave one back.
    long movedNanos;

    /// Null while none of its messages was put off.
    ReturningMessages.@Nullable OfApp returning;

    App(long nowNanos) {
      this.movedNanos = nowNanos;
    }
  }

  final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  final Map<AppId, App> apps = new HashMap<>();

  private final int most;
  private final IntSupplier inHand;
  private final LongSupplier nanoTime;

  @GuardedBy("lock")
  private int free;

  /// Requests of all apps. One that was given a permit counts until its thread goes on.
  @GuardedBy("lock")
  private int waiting;

  /// How many apps [#refuseStuck] last found stuck.
  @GuardedBy("lock")
  private int stuckApps;

  /// @param inHand requests that the lane has in hand, with those that wait for a permit or ask
  ///     for one; it may have `most`
  /// @param nanoTime as [System#nanoTime]
  FairPermits(int most, IntSupplier inHand, LongSupplier nanoTime) {
    this.most = most;
    this.free = most;
    this.inHand = inHand;
    this.nanoTime = nanoTime;
  }

  int inUse() {
    lock.lock();
    try {
      return most - free;
    } finally {
      lock.unlock();
    }
  }

  int waiting() {
    lock.lock();
    try {
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  /// Waits for a permit while the app's requests are being answered. [#refuseStuck] must be called
  /// meanwhile.
  ///
  /// @return whether the caller has a permit; then it must call [#release]
  public boolean acquire(AppId name) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      App app = app(name);
      if (app.waiting.isEmpty() && hasPermitFor(app)) {
        take(app);
        return true;
      }
      // A stuck app holds a permit, so it is not forgotten here.
      return !isStuck(app) && await(name, app);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean await(AppId name, App app) throws InterruptedException {
    waiting++;
    try {
      return app.waiting.await();
    } finally {
      waiting--;
      forgetIfIdle(name, app);
    }
  }

  /// Gives a permit back.
  ///
  /// @param acquiredNanos when the request got it
  public void release(AppId name, long acquiredNanos, Response response) {
    lock.lock();
    try {
      App app = apps.get(name);
      if (app == null) {
        throw new IllegalStateException(name + " holds no permit");
      }
      app.movedNanos = nanoTime.getAsLong();
      long tookNanos = app.movedNanos - acquiredNanos;
      if (response == Response.NOT_ASKED && tookNanos <= SLOW.toNanos()) {
        wantAnswer(app);
      } else {
        boolean answered = response == Response.ANSWERED;
        app.usualNanos += WEIGHT * (tookNanos - app.usualNanos);
        app.unanswered += WEIGHT * ((answered ? 0 : 1) - app.unanswered);
        app.answersWanted = Math.max(0, app.answersWanted - (answered ? 1 : 0));
      }
      app.held--;
      free++;
      letIn();
      forgetIfIdle(name, app);
    } finally {
      lock.unlock();
    }
  }

  /// Ends the waits of stuck apps' requests without a permit. To be called several times a second.
  void refuseStuck() {
    lock.lock();
    try {
      stuckApps = 0;
      for (App app : apps.values()) {
        if (isStuck(app)) {
          stuckApps++;
          app.waiting.refuseAll();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  App app(AppId name) {
    return apps.computeIfAbsent(name, _ -> new App(nanoTime.getAsLong()));
  }

  @GuardedBy("lock")
  int stuckApps() {
    return stuckApps;
  }

  /// A deferral may concern one device only, so a single answer clears it.
  @GuardedBy("lock")
  void wantAnswer(App app) {
    app.answersWanted = Math.max(1, app.answersWanted);
  }

  /// How many more messages of an app that were put off would get a permit, besides the expected
  /// ones. Where other messages of the app wait here, some more are fetched, because those go on
  /// soon. Where the provider does not answer, was not to be asked, or is not known yet, only one
  /// message at a time is fetched.
  ///
  /// @param expected messages of this app that are on their way back
  /// @param expectedOfAll the same of all apps
  @GuardedBy("lock")
  int availableTo(App app, int expected, int expectedOfAll) {
    int has = app.held + expected;
    int available =
        app.waiting.isEmpty()
            ? available(app, has, free - expectedOfAll, inHand.getAsInt() + expectedOfAll)
            : ofASlowApp() - app.waiting.length() - expected;
    if (mostlyUnanswered(app) || hasHeardNothing(app) || app.answersWanted > 0) {
      available = Math.min(available, 1 - has);
    }
    return Math.max(0, available);
  }

  @GuardedBy("lock")
  private boolean hasPermitFor(App app) {
    // The request that asks is in hand itself.
    return available(app, app.held, free, inHand.getAsInt() - 1) > 0;
  }

  /// How many more permits an app may hold.
  ///
  /// @param has how many it has, or is to have
  /// @param left how many are left for it and all others
  /// @param others requests in hand besides those that want these permits
  private int available(App app, int has, int left, int others) {
    int shared = Math.min(left, Math.ceilDiv(SHARE * left - has, SHARE + 1));
    if (!isSlow(app)) {
      return shared;
    }
    int itsOwn = ofASlowApp() - has;
    int spare = isSilent(app) ? 0 : most / 2 - others;
    return Math.min(shared, Math.max(itsOwn, spare));
  }

  private int ofASlowApp() {
    return Math.max(1, most / OF_A_SLOW_APP);
  }

  private static boolean isSlow(App app) {
    return app.usualNanos > SLOW.toNanos();
  }

  /// Most requests take long and end without an answer.
  private static boolean isSilent(App app) {
    return isSlow(app) && mostlyUnanswered(app);
  }

  /// True also where requests fail at once, because the provider takes no connection: each fetched
  /// message would lose one of its tries.
  private static boolean mostlyUnanswered(App app) {
    return app.unanswered > 0.5;
  }

  /// An app that holds no permit is not stuck: it only waits for other apps, which go on soon.
  @GuardedBy("lock")
  private boolean isStuck(App app) {
    return app.held > 0 && (isSlow(app) || hasHeardNothing(app));
  }

  @GuardedBy("lock")
  private boolean hasHeardNothing(App app) {
    return app.held > 0 && nanoTime.getAsLong() - app.movedNanos >= PATIENCE.toNanos();
  }

  @GuardedBy("lock")
  private void take(App app) {
    if (app.held == 0) {
      app.movedNanos = nanoTime.getAsLong();
    }
    app.held++;
    free--;
  }

  @GuardedBy("lock")
  private void letIn() {
    App next = next();
    while (next != null) {
      take(next);
      next.waiting.admitFirst();
      next = next();
    }
  }

  /// The app that holds least comes first.
  @GuardedBy("lock")
  private @Nullable App next() {
    if (free == 0 || waiting == 0) {
      return null;
    }
    App next = null;
    for (App app : apps.values()) {
      if (!app.waiting.isEmpty() && hasPermitFor(app) && (next == null || app.held < next.held)) {
        next = app;
      }
    }
    return next;
  }

  /// What is known of a slow app is kept while any of its messages is here or in `later`; then it
  /// starts anew.
  @GuardedBy("lock")
  void forgetIfIdle(AppId name, App app) {
    boolean returns = app.returning != null && app.returning.inLater;
    if (app.held == 0 && app.waiting.isEmpty() && !returns) {
      apps.remove(name, app);
    }
  }
}
