package io.pushplanet.common.testing;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// Runs a scene that needs real time, such as one in which a silent peer must be dropped after
/// three seconds. A machine that stands still for as long looks silent as well. So a scene that
/// failed while this process stood still is run again; a scene that failed on a machine that ran
/// all the time has failed.
public final class Undisturbed {
  /// A scene with much longer waits than this is not affected by shorter pauses.
  private static final Duration STANDSTILL = Duration.ofMillis(300);

  private static final int MAX_TIMES = 6;
  private static final Duration LOOK = Duration.ofMillis(10);

  private Undisturbed() {}

  /// Sets up and cleans up everything itself, because it may run twice.
  public interface Scene {
    void play() throws Exception;
  }

  public static void play(Scene scene) throws Exception {
    for (int time = 1; ; time++) {
      var longest = new AtomicLong();
      Thread watch = watch(longest);
      try {
        scene.play();
        return;
      } catch (AssertionError | Exception failed) {
        if (time == MAX_TIMES || longest.get() < STANDSTILL.toNanos()) {
          throw failed;
        }
        System.out.printf(
            "event=scene_played_again stood_still_ms=%d failure=\"%s\"%n",
            longest.get() / 1_000_000, failed.getMessage());
      } finally {
        watch.interrupt();
      }
    }
  }

  /// A thread that wants to run every few milliseconds.
  private static Thread watch(AtomicLong longest) {
    return Thread.ofPlatform()
        .daemon()
        .name("standstill-watch")
        .start(() -> {
          long last = System.nanoTime();
          while (!Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(LOOK.toNanos());
            long now = System.nanoTime();
            longest.accumulateAndGet(now - last, Math::max);
            last = now;
          }
        });
  }
}
