package io.pushplanet.dashboard.page;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A part of a long list, read by key and not by offset.
///
/// @param next where the next part starts; null for the last part
public record Slice<T>(List<T> rows, @Nullable String next) {
  public Slice {
    rows = List.copyOf(rows);
  }

  /// @param oneMore up to `size + 1` rows; the last one only shows that there are more
  public static <T> Slice<T> of(List<T> oneMore, int size, Function<T, String> key) {
    if (oneMore.size() <= size) {
      return new Slice<>(oneMore, null);
    }
    List<T> rows = oneMore.subList(0, size);
    return new Slice<>(rows, key.apply(rows.getLast()));
  }
}
