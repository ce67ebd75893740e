package io.pushplanet.gateway.http2;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.ssl.SslContext;
import io.pushplanet.gateway.http2.ScriptedServer.Peer;
import io.pushplanet.gateway.http2.ScriptedServer.Script;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// One client, one fault, and the fate of each notification.
final class FaultRun implements Script {
  private static final long NOTIFICATIONS = 6_000;
  private static final int IN_FLIGHT = 500;
  private static final int GOOD_BEFORE = 2_000;
  private static final int ONE_IN = 100;
  private static final long INTERNAL_ERROR = 0x2;
  private static final long REFUSED_STREAM = 0x7;
  private static final Duration HUNG_AFTER = Duration.ofSeconds(15);

  private record Held(Peer peer, int stream, long number) {}

  interface Senders {
    NotificationSender to(int port, int connections, int inFlight);
  }

  private final Fault fault;
  private final SslContext tls;
  private final Map<Long, Integer> processed = new ConcurrentHashMap<>();
  private final Set<Long> ended = ConcurrentHashMap.newKeySet();
  private final Set<Long> well = ConcurrentHashMap.newKeySet();
  private final List<Held> held = new ArrayList<>();
  private volatile long faultNanos;
  private volatile long lastEndNanos;
  private volatile long leftNanos;
  private int seen;

  /// Not every hundredth: with 500 under way a repeated request would be the hundredth again.
  private final Random dice = new Random(20261121);

  FaultRun(Fault fault, SslContext tls) {
    this.fault = fault;
    this.tls = tls;
  }

  Map<String, Long> run(Senders senders) throws InterruptedException {
    AtomicLong next = new AtomicLong();
    try (ScriptedServer server = new ScriptedServer(this, tls, 0, true);
        NotificationSender sender = senders.to(server.port(), 1, IN_FLIGHT)) {
      sender.keepSending(
          IN_FLIGHT,
          () -> next.get() >= NOTIFICATIONS ? -1 : next.getAndIncrement(),
          (number, beganNanos, good) -> {
            if (good) {
              well.add(number);
            }
            ended.add(number);
            lastEndNanos = System.nanoTime();
          });
      lastEndNanos = System.nanoTime();
      long begun = 0;
      while (ended.size() < NOTIFICATIONS
          && System.nanoTime() - lastEndNanos < HUNG_AFTER.toNanos()) {
        TimeUnit.MILLISECONDS.sleep(20);
        begun = Math.min(NOTIFICATIONS, next.get());
        noteLeft(server);
      }
      long hung = begun - ended.size();
      Map<String, Long> found = new LinkedHashMap<>();
      found.put("answered", (long) well.size());
      found.put("failed", (long) ended.size() - well.size());
      found.put("hung", hung);
      found.put("never_begun", NOTIFICATIONS - begun);
      found.put("twice", processed.values().stream().filter(times -> times > 1).count());
      found.put("connections", (long) server.peers.size());
      if (fault == Fault.SILENT) {
        long until = leftNanos == 0 ? System.nanoTime() : leftNanos;
        found.put("left_after_millis", (until - faultNanos) / 1_000_000);
      }
      return found;
    }
  }

  private void noteLeft(ScriptedServer server) {
    if (leftNanos == 0 && faultNanos > 0 && server.peers.getFirst().left) {
      leftNanos = System.nanoTime();
    }
  }

  @Override
  public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
    String path = headers.path().toString();
    long number = Long.parseLong(path.substring(path.lastIndexOf('/') + 1), 16);
    seen++;
    if (seen <= GOOD_BEFORE) {
      process(peer, stream, number);
      return;
    }
    switch (fault) {
      case GOAWAY -> goAway(peer, stream, number);
      case REFUSED -> resetOneIn(peer, stream, number, REFUSED_STREAM);
      case RST -> resetOneIn(peer, stream, number, INTERNAL_ERROR);
      case SILENT -> {
        if (peer.number == 1) {
          faultNanos = System.nanoTime();
          peer.fallSilent();
        } else {
          process(peer, stream, number);
        }
      }
    }
  }

  private void process(Peer peer, int stream, long number) {
    processed.merge(number, 1, Integer::sum);
    peer.answer(stream);
  }

  private void resetOneIn(Peer peer, int stream, long number, long error) {
    if (dice.nextInt(ONE_IN) == 0) {
      peer.reset(stream, error);
    } else {
      process(peer, stream, number);
    }
  }

  private void goAway(Peer peer, int stream, long number) {
    if (peer.number > 1 || faultNanos > 0) {
      if (peer.number > 1) {
        process(peer, stream, number);
      }
      return;
    }
    held.add(new Held(peer, stream, number));
    if (held.size() == IN_FLIGHT) {
      faultNanos = System.nanoTime();
      peer.goAway(held.get(IN_FLIGHT / 2 - 1).stream, 0, "{\"reason\":\"Shutdown\"}");
      held.subList(0, IN_FLIGHT / 2).forEach(one -> process(one.peer, one.stream, one.number));
      peer.dropAfter(Duration.ofSeconds(1));
    }
  }
}
