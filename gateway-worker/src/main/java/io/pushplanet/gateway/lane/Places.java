package io.pushplanet.gateway.lane;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.order.Line;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The places of a lane for requests to its provider, shared by apps so that none of them can have all:
///
/// - an app may hold [#SHARE] times as many as are free: alone four fifths, two that flood four ninths each; there is
///   always room for one more app;
/// - an app whose answers take longer than [#SLOW] may hold a [#OF_A_SLOW_APP]th, and where it does get answers also more, as long as
///   less than half of what the lane may have in hand is in hand: a request keeps the broker's message that it came in, with all the
///   others in it, and whoever comes next is behind those;
/// - where an app's places are all taken and no answer has come for [#PATIENCE], or it is slow, nobody waits for one: what
///   waits here holds its broker's message, and those are few. It waits elsewhere, and [#roomFor] says how much of it is to come.
///
/// An app's requests get places in the order they came. From a full queue thousands wait here at once, and a virtual thread that
/// waits with a timeout wakes the scheduler's timer thread twice: so they wait without, and somebody looks after them ([#look]).
///
/// Thread-safe; calls block.
public final class Places {
  static final Duration SLOW = Duration.ofSeconds(2);
  static final Duration PATIENCE = Duration.ofSeconds(3);

  /// Nobody waits for that, as long as somebody asks for [#roomFor]. As any retry's, this wait is up to a quarter longer in the end.
  static final Duration SOONEST_BACK = Duration.ofMinutes(5);

  static final Duration LATEST_BACK = Duration.ofHours(6);

  /// Between two of all the apps that are stuck, which come back unasked: each costs MySQL and the broker some writes.
  static final Duration BACK_EVERY = Duration.ofMillis(10);

  /// From one look in vain to the next.
  static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

  /// So often whoever was sent away is looked for in vain: it may still be being written. Looks are counted, and not the time: while
  /// MySQL is away nobody looks and nothing is written.
  static final int LOOKS_IN_VAIN = 60;

  /// Since the first of them was brought forward: who has not come by then is with another worker, or behind a long queue. Where that
  /// is so of most, the next ones are waited for twice as long: else that queue would be longer by as many every ten seconds.
  static final Duration ON_ITS_WAY = Duration.ofSeconds(10);

  /// Five minutes: nobody is waited for in vain for longer.
  private static final int MOST_DOUBLINGS = 5;

  /// So many answers say how a provider is of which only that messages wait for it was known.
  private static final int KNOWN_AFTER = 6;

  private static final int SHARE = 4;
  private static final int OF_A_SLOW_APP = 8;

  /// How much one answer says of the next.
  private static final double WEIGHT = 0.125;

  /// What a request that had a place says of its provider.
  public enum Heard {
    ANSWER,
    /// Nobody answered, or there was nobody to ask.
    SILENCE,
    /// Nobody was to be asked: a rest, a paused credential, or it ended before. Who held its place for long all the same waited for
    /// somebody in vain, and that is silence.
    NOT_ASKED
  }

  private final int most;
  private final IntSupplier inHand;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Map<AppId, Held> apps = new HashMap<>();

  @GuardedBy("lock")
  private int free;

  /// Of all apps; who was let in counts until it goes on.
  @GuardedBy("lock")
  private int waiting;

  /// Of all apps' messages that wait elsewhere, who is on the way here.
  @GuardedBy("lock")
  private int coming;

  /// How often was asked who waits elsewhere.
  @GuardedBy("lock")
  private int rounds;

  /// Apps, when [#look] was called last.
  @GuardedBy("lock")
  private int stuck;

  /// An app that has or wants places.
  private final class Held {
    final Line line = new Line(lock);
    int held;
    double usualNanos;

    /// The share of those without an answer, by the same weights.
    double unanswered;

    /// Until its provider is known, or known to be asked again. Only [#roomFor] minds: whoever comes anew is not to suffer for what is
    /// not known.
    int answersWanted;

    long movedNanos;

    /// When the last of those that were sent away comes back.
    long lastBackNanos;

    /// Whether messages of it wait elsewhere, as far as is known.
    boolean waitsElsewhere;

    /// Since that was known last.
    int looksInVain;

    /// The next look, at the soonest.
    long lookNanos;

    /// Its part of all that are.
    int coming;

    /// When the first of these was brought forward, and how many were since.
    long comingNanos;

    int sinceThen;

    /// Of the time for which they are waited for.
    int doublings;

    Held(long nowNanos) {
      this.movedNanos = nowNanos;
      this.lastBackNanos = nowNanos;
      this.lookNanos = nowNanos;
    }
  }

  /// @param inHand recipients that the lane has in hand, also those without a place and whoever asks for one; it may have `most`
  /// @param nanoTime as [System#nanoTime]
  Places(int most, IntSupplier inHand, LongSupplier nanoTime) {
    this.most = most;
    this.free = most;
    this.inHand = inHand;
    this.nanoTime = nanoTime;
  }

  int taken() {
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

  /// Waits for a place while the app's requests go on being answered and somebody calls [#look].
  ///
  /// @return whether there was one; then [#leave] must be called
  public boolean enter(AppId name) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      Held app = apps.computeIfAbsent(name, _ -> new Held(nanoTime.getAsLong()));
      if (app.line.isEmpty() && hasRoom(app)) {
        take(app);
        return true;
      }
      // Who is stuck holds something, so it is not forgotten.
      return !isStuck(app) && await(name, app);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean await(AppId name, Held app) throws InterruptedException {
    waiting++;
    try {
      return app.line.await();
    } finally {
      waiting--;
      forgetIfIdle(name, app);
    }
  }

  /// When who got no place comes back unasked. It is to be brought forward once there is a place ([#roomFor]), and finds none where
  /// nobody did that: so no more than one each [#BACK_EVERY] comes back.
  ///
  /// @return [#SOONEST_BACK] to [#LATEST_BACK]
  public Duration backIn(AppId name) {
    lock.lock();
    try {
      long now = nanoTime.getAsLong();
      Held app = apps.computeIfAbsent(name, _ -> new Held(now));
      app.waitsElsewhere = true;
      app.looksInVain = 0;
      app.lastBackNanos =
          Math.clamp(
              app.lastBackNanos + Math.max(1, stuck) * BACK_EVERY.toNanos(),
              now + SOONEST_BACK.toNanos(),
              now + LATEST_BACK.toNanos());
      return Duration.ofNanos(app.lastBackNanos - now);
    } finally {
      lock.unlock();
    }
  }

  /// Messages of an app wait elsewhere, whoever sent them away. Where nothing is known of its provider they come one at a time.
  public void waitsElsewhere(AppId name) {
    lock.lock();
    try {
      Held app = apps.get(name);
      if (app == null) {
        app = new Held(nanoTime.getAsLong());
        app.answersWanted = KNOWN_AFTER;
        apps.put(name, app);
      }
      app.waitsElsewhere = true;
      app.looksInVain = 0;
    } finally {
      lock.unlock();
    }
  }

  /// The apps of which messages wait elsewhere, as far as is known. Each time another one is the first: what is promised to it by
  /// [#roomFor] the next ones do not get.
  public List<AppId> waitingElsewhere() {
    lock.lock();
    try {
      List<AppId> waitElsewhere = new ArrayList<>();
      apps.forEach((name, app) -> {
        if (app.waitsElsewhere) {
          waitElsewhere.add(name);
        }
      });
      Collections.rotate(waitElsewhere, rounds++);
      return waitElsewhere;
    } finally {
      lock.unlock();
    }
  }

  /// How many of an app's messages that wait elsewhere would get a place now, besides whoever is on the way, of all apps; some also
  /// where others of it wait here, who go on soon. A provider that says nothing, or cannot be reached or is not to be asked, or of
  /// which nothing is known, gets one at a time.
  public int roomFor(AppId name) {
    lock.lock();
    try {
      Held app = apps.get(name);
      long now = nanoTime.getAsLong();
      if (app == null || now - app.lookNanos < 0) {
        return 0;
      }
      giveUpWhoDoesNotCome(app, now);
      int has = app.held + app.coming;
      int room =
          app.line.isEmpty()
              ? room(app, has, free - coming, inHand.getAsInt() + coming)
              : Math.max(1, most / OF_A_SLOW_APP) - app.line.length() - coming;
      if (mostlyUnanswered(app) || hasHeardNothing(app) || app.answersWanted > 0) {
        room = Math.min(room, 1 - has);
      }
      return Math.max(0, room);
    } finally {
      lock.unlock();
    }
  }

  /// So many are about to be brought forward: before the last of them is, the first may be here.
  public void toCome(AppId name, int messages) {
    lock.lock();
    try {
      Held app = apps.get(name);
      if (app == null) {
        return;
      }
      if (app.coming == 0) {
        app.comingNanos = nanoTime.getAsLong();
        app.sinceThen = 0;
      }
      app.sinceThen += messages;
      app.coming += messages;
      coming += messages;
    } finally {
      lock.unlock();
    }
  }

  /// What came of [#toCome]. An app of which there was nothing is asked about again after [#LOOK_AGAIN], and after [#LOOKS_IN_VAIN]
  /// no more.
  ///
  /// @param found of those that were to come
  public void broughtForward(AppId name, int messages, int found) {
    lock.lock();
    try {
      Held app = apps.get(name);
      if (app == null) {
        return;
      }
      isHere(app, Math.min(app.coming, messages - found));
      app.sinceThen -= messages - found;
      if (found > 0) {
        app.looksInVain = 0;
        return;
      }
      app.lookNanos = nanoTime.getAsLong() + LOOK_AGAIN.toNanos();
      app.looksInVain++;
      if (app.looksInVain >= LOOKS_IN_VAIN) {
        app.waitsElsewhere = false;
        isHere(app, app.coming);
        forgetIfIdle(name, app);
      }
    } finally {
      lock.unlock();
    }
  }

  /// One that waited elsewhere is here, for whatever reason: nobody knows it from one that was brought forward, so a retry has one
  /// fetched too many. To be called before it enters.
  public void cameBack(AppId name) {
    lock.lock();
    try {
      Held app = apps.get(name);
      if (app == null || app.coming == 0) {
        return;
      }
      isHere(app, 1);
      if (app.coming == 0) {
        app.doublings = 0;
      }
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void giveUpWhoDoesNotCome(Held app, long now) {
    if (app.coming == 0 || now - app.comingNanos < ON_ITS_WAY.toNanos() << app.doublings) {
      return;
    }
    boolean most = app.coming > app.sinceThen / 2;
    app.doublings = most ? Math.min(app.doublings + 1, MOST_DOUBLINGS) : 0;
    isHere(app, app.coming);
  }

  @GuardedBy("lock")
  private void isHere(Held app, int messages) {
    app.coming -= messages;
    coming -= messages;
  }

  /// @param enteredNanos when the request began
  public void leave(AppId name, long enteredNanos, Heard heard) {
    lock.lock();
    try {
      Held app = apps.get(name);
      if (app == null) {
        throw new IllegalStateException(name + " holds no place");
      }
      app.movedNanos = nanoTime.getAsLong();
      long tookNanos = app.movedNanos - enteredNanos;
      if (heard == Heard.NOT_ASKED && tookNanos <= SLOW.toNanos()) {
        wantAnswer(app);
      } else {
        boolean answered = heard == Heard.ANSWER;
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

  /// One of an app was put off before it asked for a place, so its provider is not to be asked just now: more of those that wait
  /// elsewhere would only be written anew.
  public void notAsked(AppId name) {
    lock.lock();
    try {
      Held app = apps.get(name);
      if (app != null) {
        wantAnswer(app);
      }
    } finally {
      lock.unlock();
    }
  }

  /// What one is put off for may not be so for the others: a single answer will do.
  private static void wantAnswer(Held app) {
    app.answersWanted = Math.max(1, app.answersWanted);
  }

  /// Lets those give up who have waited for too long; to be called several times a second while anybody waits.
  void look() {
    lock.lock();
    try {
      stuck = 0;
      for (Held app : apps.values()) {
        if (isStuck(app)) {
          stuck++;
          app.line.sendAllAway();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /// Whoever asks is in hand itself.
  @GuardedBy("lock")
  private boolean hasRoom(Held app) {
    return room(app, app.held, free, inHand.getAsInt() - 1) > 0;
  }

  /// How many more places it may hold.
  ///
  /// @param has how many it has, or is to have
  /// @param left for it and all others
  /// @param others recipients in hand besides those who want the places
  private int room(Held app, int has, int left, int others) {
    int shared = Math.min(left, Math.ceilDiv(SHARE * left - has, SHARE + 1));
    if (!isSlow(app)) {
      return shared;
    }
    int itsOwn = Math.max(1, most / OF_A_SLOW_APP) - has;
    int spare = isSilent(app) ? 0 : most / 2 - others;
    return Math.min(shared, Math.max(itsOwn, spare));
  }

  private static boolean isSlow(Held app) {
    return app.usualNanos > SLOW.toNanos();
  }

  /// Most requests take long and end without an answer.
  private static boolean isSilent(Held app) {
    return isSlow(app) && mostlyUnanswered(app);
  }

  /// Also where that shows at once, as nobody takes a connection: each who comes would have one try fewer.
  private static boolean mostlyUnanswered(Held app) {
    return app.unanswered > 0.5;
  }

  /// One that holds nothing only waits for others, who have not long to go on.
  @GuardedBy("lock")
  private boolean isStuck(Held app) {
    return app.held > 0 && (isSlow(app) || hasHeardNothing(app));
  }

  @GuardedBy("lock")
  private boolean hasHeardNothing(Held app) {
    return app.held > 0 && nanoTime.getAsLong() - app.movedNanos >= PATIENCE.toNanos();
  }

  @GuardedBy("lock")
  private void take(Held app) {
    if (app.held == 0) {
      app.movedNanos = nanoTime.getAsLong();
    }
    app.held++;
    free--;
  }

  @GuardedBy("lock")
  private void letIn() {
    Held next = next();
    while (next != null) {
      take(next);
      next.line.letFirstIn();
      next = next();
    }
  }

  /// Who holds least comes first.
  @GuardedBy("lock")
  private @Nullable Held next() {
    if (free == 0 || waiting == 0) {
      return null;
    }
    Held next = null;
    for (Held app : apps.values()) {
      if (!app.line.isEmpty() && hasRoom(app) && (next == null || app.held < next.held)) {
        next = app;
      }
    }
    return next;
  }

  @GuardedBy("lock")
  private void forgetIfIdle(AppId name, Held app) {
    // What is known of a slow one is kept while it has anything here or elsewhere; then it starts
    // anew.
    if (app.held == 0 && app.line.isEmpty() && !app.waitsElsewhere) {
      apps.remove(name, app);
    }
  }
}
