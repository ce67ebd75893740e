package io.pushplanet.gateway.lane;

import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.lane.FairPermits.Response;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/// A lane with 100 permits, and a clock that is moved by hand. A request is in hand while it asks
/// for a permit and while it has one.
abstract class PermitScene {
  static final AppId SHOP = new AppId("shop");
  static final AppId BANK = new AppId("bank");
  static final Duration PATIENCE = Duration.ofSeconds(15);

  final AtomicLong nanos = new AtomicLong();
  final AtomicInteger inHand = new AtomicInteger();
  final FairPermits permits = new FairPermits(100, inHand::get, nanos::get);

  void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  /// As in the worker: a request that asks is in hand, too.
  boolean acquire(AppId app) throws InterruptedException {
    inHand.incrementAndGet();
    boolean acquired = false;
    try {
      acquired = permits.acquire(app);
    } finally {
      if (!acquired) {
        inHand.decrementAndGet();
      }
    }
    return acquired;
  }

  void release(AppId app, long acquiredNanos, boolean answered) {
    release(app, acquiredNanos, answered ? Response.ANSWERED : Response.NO_ANSWER);
  }

  void release(AppId app, long acquiredNanos, Response response) {
    permits.release(app, acquiredNanos, response);
    inHand.decrementAndGet();
  }

  /// Takes permits until a request would not wait for one more.
  int fill(AppId app) throws InterruptedException {
    int taken = 0;
    while (true) {
      if (!getsOneAtOnce(app)) {
        return taken;
      }
      taken++;
    }
  }

  /// Nothing is answered here, so a request that gets no permit at once is refused.
  boolean getsOneAtOnce(AppId app) throws InterruptedException {
    pass(FairPermits.PATIENCE);
    return acquire(app);
  }

  CompletableFuture<Boolean> acquiring() {
    CompletableFuture<Boolean> acquired = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            acquired.complete(acquire(SHOP));
          } catch (InterruptedException e) {
            acquired.completeExceptionally(e);
          }
        });
    return acquired;
  }

  /// Takes all permits that an app with slow answers gets; each of its requests is in hand.
  void fillSlowly() throws InterruptedException {
    fill(SHOP);
    allButOneEnd(80, true);
    boolean acquired = true;
    while (acquired) {
      acquired = acquire(SHOP);
    }
  }

  void allButOneEnd(int held, boolean answered) {
    long acquired = nanos.get();
    pass(Duration.ofSeconds(8));
    for (int i = 1; i < held; i++) {
      release(SHOP, acquired, answered);
    }
  }
}
