package io.pushplanet.dispatcher.push;

import io.pushplanet.dispatcher.push.PushDispatch.Prepared;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Publishes the prepared messages of a batch as soon as they have [#MAX_BYTES]. Some hundred
/// messages to one device each go together at the end, but 200 messages to 1,000 devices each would
/// fill the heap. Not thread-safe.
final class Slices {
  static final long MAX_BYTES = 1024 * 1024;

  private final Consumer<List<Prepared>> publish;
  private final Runnable goesOn;
  private final List<Prepared> waiting = new ArrayList<>();
  private long bytes;
  private int count;

  /// @param publish returns when the broker has confirmed all
  /// @param goesOn called before and after each slice is published, which may take seconds
  Slices(Consumer<List<Prepared>> publish, Runnable goesOn) {
    this.publish = publish;
    this.goesOn = goesOn;
  }

  void add(Prepared one) {
    waiting.add(one);
    count++;
    bytes += one.bytes();
    if (bytes >= MAX_BYTES) {
      end();
    }
  }

  /// Publishes the remaining messages.
  void end() {
    if (!waiting.isEmpty()) {
      goesOn.run();
      publish.accept(List.copyOf(waiting));
      goesOn.run();
      waiting.clear();
      bytes = 0;
    }
  }

  /// How many messages have been added.
  int count() {
    return count;
  }
}
