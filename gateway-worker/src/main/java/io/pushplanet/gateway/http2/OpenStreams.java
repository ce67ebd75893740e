package io.pushplanet.gateway.http2;

import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The exchanges that have a stream of a connection, by its number and from the oldest to the
/// newest. Confined to its event loop.
final class OpenStreams {
  private final IntObjectMap<Exchange> byNumber = new IntObjectHashMap<>(256);
  private @Nullable Exchange oldest;
  private @Nullable Exchange newest;

  boolean isEmpty() {
    return oldest == null;
  }

  @Nullable Exchange at(int stream) {
    return byNumber.get(stream);
  }

  @Nullable Exchange oldest() {
    return oldest;
  }

  void forEach(Consumer<Exchange> what) {
    byNumber.values().forEach(what);
  }

  /// The exchanges with a higher number than the peer has processed, the newest first.
  List<Exchange> above(int lastStream) {
    List<Exchange> above = new ArrayList<>();
    Exchange exchange = newest;
    while (exchange != null && Integer.compareUnsigned(exchange.stream, lastStream) > 0) {
      above.add(exchange);
      exchange = exchange.olderStream;
    }
    return above;
  }

  /// @param exchange has the highest number so far
  void add(Exchange exchange) {
    byNumber.put(exchange.stream, exchange);
    exchange.olderStream = newest;
    exchange.newerStream = null;
    if (newest == null) {
      oldest = exchange;
    } else {
      newest.newerStream = exchange;
    }
    newest = exchange;
  }

  void remove(Exchange exchange) {
    byNumber.remove(exchange.stream);
    Exchange older = exchange.olderStream;
    Exchange newer = exchange.newerStream;
    if (older == null) {
      oldest = newer;
    } else {
      older.newerStream = newer;
    }
    if (newer == null) {
      newest = older;
    } else {
      newer.olderStream = older;
    }
    exchange.olderStream = null;
    exchange.newerStream = null;
  }
}
