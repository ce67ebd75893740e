package io.pushplanet.common.session;

import io.lettuce.core.RedisClient;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Hears, within milliseconds, that another node has taken over a device of this one: the script that issues an epoch also
/// publishes it to the former owner, so a claim and its notice are one step. So it hears that a device was deleted ([Denial]). Redis forgets a notice that nobody hears, so
/// `resumed` tells whenever listening (re)started: compare everything then. Thread-safe.
public final class TakeoverNotices implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TakeoverNotices.class);
  private static final String CHANNEL = "takeover:";
  private static final String LEFT = "left";
  private static final String DENIED = "denied";
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final RedisClient client;
  private final String channel;
  private final Consumer<Notice> heard;
  private final Consumer<Bequest> left;
  private final Consumer<Denial> denied;
  private final Runnable resumed;
  private final AtomicReference<@Nullable StatefulRedisPubSubConnection<String, String>>
      connection = new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  /// `owner` has the device now.
  public record Notice(DeviceKey device, SessionOwner owner) {
    /// The form in which [SessionDirectory]'s scripts say it: `epoch|node|app/device`.
    static Optional<Notice> parse(String text) {
      String[] parts = text.split("\\|", 3);
      try {
        return parts.length == 3
            ? Optional.of(
                new Notice(
                    DeviceKey.parse(parts[2]),
                    new SessionOwner(new NodeId(parts[1]), Long.parseLong(parts[0]))))
            : Optional.empty();
      } catch (IllegalArgumentException malformed) {
        return Optional.empty();
      }
    }
  }

  /// What a node says to the one that took a device from it: how the session was when it ended there under `epoch`.
  ///
  /// @param session in the nodes' own form; empty when there is nothing to go on with
  public record Bequest(DeviceKey device, long epoch, String session) {
    /// `left|epoch|session|app/device`: no [Notice], and nodes of an earlier version pass it over.
    static Optional<Bequest> parse(String text) {
      String[] parts = text.split("\\|", 4);
      try {
        return parts.length == 4 && parts[0].equals(LEFT)
            ? Optional.of(
                new Bequest(DeviceKey.parse(parts[3]), Long.parseLong(parts[1]), parts[2]))
            : Optional.empty();
      } catch (IllegalArgumentException malformed) {
        return Optional.empty();
      }
    }
  }

  /// The passwords of a device that end in this second of the epoch, or sooner, let nobody in any more.
  ///
  /// @param epoch of the session that this node had then
  public record Denial(DeviceKey device, long epoch, long ends) {
    /// `denied|epoch|ends|app/device`: neither a [Notice] nor a [Bequest], so that nodes of an earlier version pass it over.
    static Optional<Denial> parse(String text) {
      String[] parts = text.split("\\|", 4);
      try {
        return parts.length == 4 && parts[0].equals(DENIED)
            ? Optional.of(
                new Denial(
                    DeviceKey.parse(parts[3]), Long.parseLong(parts[1]), Long.parseLong(parts[2])))
            : Optional.empty();
      } catch (IllegalArgumentException malformed) {
        return Optional.empty();
      }
    }
  }

  private TakeoverNotices(
      RedisClient client,
      NodeId node,
      Consumer<Notice> heard,
      Consumer<Bequest> left,
      Consumer<Denial> denied,
      Runnable resumed) {
    this.client = client;
    this.channel = CHANNEL + node.value();
    this.heard = heard;
    this.left = left;
    this.denied = denied;
    this.resumed = resumed;
  }

  /// As below, for who takes nothing over.
  public static TakeoverNotices listen(
      RedisClient client, NodeId node, Consumer<Notice> heard, Runnable resumed) {
    return listen(client, node, heard, _ -> {}, _ -> {}, resumed);
  }

  /// Listens as soon as Redis is there, and again whenever it is back. The callbacks run on Redis' thread: must not block.
  public static TakeoverNotices listen(
      RedisClient client,
      NodeId node,
      Consumer<Notice> heard,
      Consumer<Bequest> left,
      Consumer<Denial> denied,
      Runnable resumed) {
    TakeoverNotices notices = new TakeoverNotices(client, node, heard, left, denied, resumed);
    Thread.ofVirtual().name("takeover-notices").start(notices::keepTrying);
    return notices;
  }

  @Override
  public void close() {
    closed.countDown();
    StatefulRedisPubSubConnection<String, String> held = connection.get();
    if (held != null) {
      held.close();
    }
  }

  private void keepTrying() {
    try {
      while (!tried()) {
        long millis = PAUSE.toMillis();
        if (closed.await(
            millis + ThreadLocalRandom.current().nextLong(millis), TimeUnit.MILLISECONDS)) {
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean tried() {
    StatefulRedisPubSubConnection<String, String> opened = null;
    try {
      opened = client.connectPubSub();
      opened.addListener(new Listener());
      // Lettuce subscribes again by itself after each reconnect.
      opened.sync().subscribe(channel);
      connection.set(opened);
      if (closed.getCount() == 0) {
        opened.close();
      }
      return true;
    } catch (RuntimeException | Error e) {
      if (opened != null) {
        opened.close();
      }
      LOG.debug("event=takeover_notices_awaited reason=\"{}\"", e.toString());
      return false;
    }
  }

  private final class Listener extends RedisPubSubAdapter<String, String> {
    @Override
    public void message(String from, String text) {
      Notice.parse(text).ifPresent(heard);
      Bequest.parse(text).ifPresent(left);
      Denial.parse(text).ifPresent(denied);
    }

    @Override
    public void subscribed(String to, long count) {
      LOG.info("event=takeover_notices_heard channel={}", to);
      resumed.run();
    }
  }
}
