package io.pushplanet.dashboard.node;

import io.pushplanet.common.node.NodeFigures.Bucket;
import io.pushplanet.common.node.NodeFigures.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Times on the page, with a bar for each bucket.
///
/// @param title what was timed
/// @param times absent when the node is of a version that does not report them
record Histogram(String title, @Nullable Times times) {
  /// The height of the highest bar, in units of the drawing.
  static final int HEIGHT = 100;

  /// The distance from one bar to the next, in the same units.
  static final int STEP = 10;

  // The bar of a single time among millions must be visible.
  private static final int LEAST = 3;
  private static final int BARS_PER_LABEL = 4;

  /// @param x of its left edge
  /// @param height from the bottom
  /// @param label under it; empty under most bars
  /// @param words `up to 2.1 ms: 31`
  record Bar(int x, int height, String label, String words) {
    public int y() {
      return HEIGHT - height;
    }
  }

  /// No bars when nothing was timed yet.
  public List<Bar> bars() {
    List<Bucket> buckets = times == null ? List.of() : times.buckets();
    long most = buckets.stream().mapToLong(Bucket::count).max().orElse(0);
    if (most == 0) {
      return List.of();
    }
    var bars = new ArrayList<Bar>();
    for (int index = 0; index < buckets.size(); index++) {
      Bucket bucket = buckets.get(index);
      boolean labelled = index % BARS_PER_LABEL == 0 || index == buckets.size() - 1;
      bars.add(
          new Bar(
              index * STEP,
              height(bucket.count(), most),
              labelled ? label(bucket) : "",
              words(bucket)));
    }
    return bars;
  }

  private static int height(long count, long most) {
    return count == 0 ? 0 : Math.max(LEAST, (int) Math.round((double) HEIGHT * count / most));
  }

  private static String label(Bucket bucket) {
    return bucket.upToMillis() == null ? "longer" : TimeText.of(bucket.upToMillis());
  }

  private static String words(Bucket bucket) {
    String which = bucket.upToMillis() == null ? "" : "up to ";
    return which + label(bucket) + String.format(Locale.ROOT, ": %,d", bucket.count());
  }

  /// The units of the drawing from left to right.
  public int width() {
    return times == null ? 0 : times.buckets().size() * STEP;
  }

  /// The drawing in words, without its empty bars.
  public String described() {
    return bars().stream()
        .filter(bar -> bar.height() > 0)
        .map(Bar::words)
        .collect(Collectors.joining("; ", title + ": ", ""));
  }

  /// `p50 0.21 ms, p99 1.8 ms, longest 40 ms`
  public String summary() {
    if (times == null) {
      return "not reported by this version";
    }
    if (times.count() == 0) {
      return "none yet";
    }
    if (times.maxMillis() == 0) {
      return "none in the last minutes";
    }
    String p50 = times.p50Millis() == null ? "-" : TimeText.of(times.p50Millis());
    return "p50 %s, p99 %s, longest %s"
        .formatted(p50, TimeText.of(times.p99Millis()), TimeText.of(times.maxMillis()));
  }
}
