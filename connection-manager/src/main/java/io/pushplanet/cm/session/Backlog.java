package io.pushplanet.cm.session;

import java.util.AbstractList;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;

/// A short list, first come, first served, that is a mere 16 bytes while nothing is in it: a device has two, and nearly
/// every device is idle. Confined to its event loop.
final class Backlog<T> extends AbstractList<T> {
  private @Nullable ArrayList<T> items;

  @Override
  public int size() {
    return items == null ? 0 : items.size();
  }

  @Override
  public T get(int index) {
    return held(index).get(index);
  }

  @Override
  public boolean add(T item) {
    if (items == null) {
      items = new ArrayList<>(2);
    }
    return items.add(item);
  }

  @Override
  public T remove(int index) {
    var held = held(index);
    var removed = held.remove(index);
    if (held.isEmpty()) {
      items = null;
    }
    return removed;
  }

  /// Takes the first.
  T remove() {
    return remove(0);
  }

  /// Takes the first, if there is one.
  @Nullable T poll() {
    return items == null ? null : remove(0);
  }

  @Override
  public void clear() {
    items = null;
  }

  private ArrayList<T> held(int index) {
    var held = items;
    if (held == null) {
      throw new IndexOutOfBoundsException(index);
    }
    return held;
  }
}
