package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.tls.TlsIdentity;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Checks once a second what the loops cannot see or must not wait for: the heap after collections,
/// certificate files, and whether accept queues overflow. Runs on one virtual thread.
final class TransportWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TransportWatch.class);
  private static final int OVERFLOWS_EVERY_SECONDS = 5;

  private final List<TlsIdentity> identities;
  private final Heap heap;
  private final Pressure pressure;
  private final LongSupplier nanoTime;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ListenOverflows overflows = ListenOverflows.ofThisMachine();
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
    overflows.haveRisen();
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
    overflowing = overflows.haveRisen();
    if (overflowing) {
      pressure.felt(Pressure.Kind.BACKLOG, nanoTime.getAsLong());
    }
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
