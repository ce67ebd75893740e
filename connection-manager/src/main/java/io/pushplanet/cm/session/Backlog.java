package io.pushplanet.cm.session;

import java.util.ArrayList;
import org.jspecify.annotations.Nullable;

/// A short first-in, first-out list. Every device has two of them and nearly every device is idle,
/// so an empty list is replaced by the shared [#none]: see [#with] and [#orNone]. Confined to its
/// event loop.
class Backlog<T> extends ArrayList<T> {
  /// The capacity of a new list.
  static final int ROOM = 2;

  private static final Backlog<Object> NONE = new Backlog<>(0);

  Backlog() {
    this(ROOM);
  }

  Backlog(int room) {
    super(room);
  }

  /// The shared empty list; nothing may be added to it.
  // The list stays empty, so its element type does not matter.
  @SuppressWarnings("unchecked")
  static <T> Backlog<T> none() {
    return (Backlog<T>) NONE;
  }

  /// Returns a list with this item at its end: this list, or a new one if this list is empty.
  Backlog<T> with(T item) {
    Backlog<T> held = isEmpty() ? new Backlog<T>() : this;
    held.add(item);
    return held;
  }

  /// Returns this list, or [#none] if this list is empty.
  Backlog<T> orNone() {
    return isEmpty() ? none() : this;
  }

  T remove() {
    return remove(0);
  }

  @Nullable T poll() {
    return isEmpty() ? null : remove(0);
  }
}
