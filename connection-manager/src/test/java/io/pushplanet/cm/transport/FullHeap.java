package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.gate.GateSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.locks.LockSupport;

/// An echo server as a process whose heap is nearly full of live objects and is collected all the
/// time: prints its port, releases the objects at a line of input, runs until its input ends.
final class FullHeap {
  /// Beyond the level that [Heap] calls full, with some room to work in.
  private static final double FILLED = 0.935;

  private static final int PIECE = 128 * 1024;

  private FullHeap() {}

  public static void main(String[] arguments) throws Exception {
    var pieces = new ArrayList<byte[]>();
    try (var server = new EchoServer(GateSettings.OPEN)) {
      // Loads the classes for answering while there is room for them.
      try (var first = server.connect()) {
        EchoServer.echoes(first);
      }
      for (long missing = missing(); missing >= PIECE; missing = missing()) {
        for (long piece = 0; piece < missing / PIECE; piece++) {
          pieces.add(new byte[PIECE]);
        }
      }
      Thread.ofPlatform().daemon().start(FullHeap::collect);
      System.out.println(server.port());
      System.in.read();
      pieces.clear();
      while (System.in.read() >= 0) {}
    }
  }

  private static long missing() {
    System.gc();
    var runtime = Runtime.getRuntime();
    return (long) (runtime.maxMemory() * FILLED) - (runtime.totalMemory() - runtime.freeMemory());
  }

  private static void collect() {
    while (true) {
      System.gc();
      LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
    }
  }
}
