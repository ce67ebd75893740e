package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.tls.TlsIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Checks once a second what the loops cannot see or must not wait for: the heap after collections,
/// certificate files, and the kernel's count of connections that found a listener's accept queue
/// full (`ListenOverflows` of https://docs.kernel.org/networking/snmp_counter.html; it counts for
/// this network namespace, other servers included). Runs on one virtual thread.
final class TransportWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TransportWatch.class);
  private static final int OVERFLOWS_EVERY_SECONDS = 5;
  private static final Path NETSTAT = Path.of("/proc/net/netstat");

  private final List<TlsIdentity> identities;
  private final Heap heap;
  private final Pressure pressure;
  private final LongSupplier nanoTime;
  private final CountDownLatch closed = new CountDownLatch(1);
  private long overflows;
  private boolean overflowing;
  private long looks;

  TransportWatch(
      List<TlsIdentity> identities, Heap heap, Pressure pressure, LongSupplier nanoTime) {
    this.identities = identities;
    this.heap = heap;
    this.pressure = pressure;
    this.nanoTime = nanoTime;
  }

  void start() {
    overflows = overflows();
    Thread.ofVirtual().name("cm-transport-watch").start(this::run);
  }

  private void run() {
    try {
      while (!closed.await(1, TimeUnit.SECONDS)) {
        look();
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    try {
      heap.look();
      if (heap.isFull()) {
        pressure.felt(Pressure.Kind.HEAP, nanoTime.getAsLong());
      }
      identities.forEach(TlsIdentity::reloadIfChanged);
      if (overflowing || looks++ % OVERFLOWS_EVERY_SECONDS == 0) {
        lookForOverflows();
      }
    } catch (RuntimeException | Error unexpected) {
      LOG.error("event=transport_watch_error", unexpected);
    }
  }

  /// Reading the file is most of this thread's work, so it is read every second only while the
  /// number rises.
  private void lookForOverflows() {
    long now = overflows();
    overflowing = now > overflows;
    overflows = now;
    if (overflowing) {
      pressure.felt(Pressure.Kind.BACKLOG, nanoTime.getAsLong());
    }
  }

  /// Returns 0 where the file does not exist.
  private static long overflows() {
    try {
      return Files.isReadable(NETSTAT) ? overflows(Files.readAllLines(NETSTAT)) : 0;
    } catch (IOException unreadable) {
      return 0;
    }
  }

  /// Reads pairs of lines: names, then numbers.
  static long overflows(List<String> lines) {
    for (int index = 0; index + 1 < lines.size(); index++) {
      var names = List.of(lines.get(index).split(" "));
      int column = names.indexOf("ListenOverflows");
      if (column > 0) {
        return Long.parseLong(lines.get(index + 1).split(" ")[column]);
      }
    }
    return 0;
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
