package io.pushplanet.dashboard.overview;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Something that costs much to find out, and that all operators who look at the page share for a
/// moment. Thread-safe; one thread asks at a time, and the others get its result.
final class Recent<T> {
  private final Supplier<T> source;
  private final Duration fresh;
  private final LongSupplier nanoTime;

  @GuardedBy("this")
  private @Nullable T last;

  @GuardedBy("this")
  private long askedNanos;

  /// @param fresh for how long a result is shared
  /// @param nanoTime never set, unlike a clock
  Recent(Supplier<T> source, Duration fresh, LongSupplier nanoTime) {
    this.source = source;
    this.fresh = fresh;
    this.nanoTime = nanoTime;
  }

  synchronized T get() {
    T known = last;
    if (known != null && nanoTime.getAsLong() - askedNanos < fresh.toNanos()) {
      return known;
    }
    T found = source.get();
    last = found;
    askedNanos = nanoTime.getAsLong();
    return found;
  }
}
