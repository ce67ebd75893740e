package io.pushplanet.cm.session;

import java.util.ArrayList;
import org.jspecify.annotations.Nullable;

/// A short list, first come, first served. A device has two and nearly every device is idle, so whoever holds one holds
/// [#none], which is everybody's, while nothing is in it: see [#with] and [#orNone]. Confined to its event loop.
class Backlog<T> extends ArrayList<T> {
  /// Places that one begins with.
  static final int ROOM = 2;

  private static final Backlog<Object> NONE = new Backlog<>(0);

  Backlog() {
    this(ROOM);
  }

  Backlog(int room) {
    super(room);
  }

  /// The empty one; never added to.
  // It holds nothing, so it may be one of anything.
  @SuppressWarnings("unchecked")
  static <T> Backlog<T> none() {
    return (Backlog<T>) NONE;
  }

  /// A backlog with this at its end: this one, or a new one where nothing was in it.
  Backlog<T> with(T item) {
    var held = isEmpty() ? new Backlog<T>() : this;
    held.add(item);
    return held;
  }

  /// This one, or [#none] once nothing is in it.
  Backlog<T> orNone() {
    return isEmpty() ? none() : this;
  }

  /// Takes the first.
  T remove() {
    return remove(0);
  }

  /// Takes the first, if there is one.
  @Nullable T poll() {
    return isEmpty() ? null : remove(0);
  }
}
