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
/// publishes it to the former owner, so a claim and its notice are one step. So it hears that a device was deleted ([Denial]) or has another user ([Handover]), and, of one that it takes itself, that the former
/// owner has let it go ([Bequest]). Redis forgets a notice that nobody hears, so
/// `resumed` tells whenever listening (re)started: compare everything then. Thread-safe.
public final class TakeoverNotices implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TakeoverNotices.class);
  private static final String CHANNEL = "takeover:";
  private static final String LEFT = "left";
  private static final String DENIED = "denied";
  private static final String HANDOVER = "handover";
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final RedisClient client;
  private final String channel;
  private final Consumer<Word> heard;
  private final Runnable resumed;
  private final AtomicReference<@Nullable StatefulRedisPubSubConnection<String, String>>
      connection = new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  /// What a node is told of a device that it has, or had, or takes.
  public sealed interface Word {
    DeviceKey device();

    /// Nothing where it has another form, as it may have from a later version.
    static Optional<Word> parse(String text) {
      String[] parts = text.split("\\|", -1);
      try {
        return Optional.ofNullable(
            switch (parts.length) {
              case 3 ->
                  parts[0].equals(HANDOVER)
                      ? new Handover(DeviceKey.parse(parts[2]), Long.parseLong(parts[1]))
                      : new Notice(
                          DeviceKey.parse(parts[2]),
                          new SessionOwner(new NodeId(parts[1]), Long.parseLong(parts[0])));
              case 4 -> ofFour(parts);
              default -> null;
            });
      } catch (IllegalArgumentException malformed) {
        return Optional.empty();
      }
    }

    private static @Nullable Word ofFour(String[] parts) {
      DeviceKey device = DeviceKey.parse(parts[3]);
      long epoch = Long.parseLong(parts[1]);
      return switch (parts[0]) {
        case LEFT -> new Bequest(device, epoch, parts[2]);
        case DENIED -> new Denial(device, epoch, Long.parseLong(parts[2]));
        default -> null;
      };
    }
  }

  /// `owner` has the device now: `epoch|node|app/device`, as [SessionDirectory]'s scripts say it.
  public record Notice(DeviceKey device, SessionOwner owner) implements Word {}

  /// What a node says to the one that took a device from it: how the session was when it ended there under `epoch`.
  /// `left|epoch|session|app/device`: no [Notice], and nodes of an earlier version pass it over.
  ///
  /// @param session in the nodes' own form; empty when there is nothing to go on with
  public record Bequest(DeviceKey device, long epoch, String session) implements Word {}

  /// The passwords of a device that end in this second of the epoch, or sooner, let nobody in any more: `denied|epoch|ends|app/device`, as
  /// [Denials] says it.
  ///
  /// @param epoch of the session that this node had then
  public record Denial(DeviceKey device, long epoch, long ends) implements Word {}

  /// The device has another user: `handover|epoch|app/device`, as [Handovers] says it.
  ///
  /// @param epoch of the session that this node had then
  public record Handover(DeviceKey device, long epoch) implements Word {}

  private TakeoverNotices(RedisClient client, NodeId node, Consumer<Word> heard, Runnable resumed) {
    this.client = client;
    this.channel = CHANNEL + node.value();
    this.heard = heard;
    this.resumed = resumed;
  }

  /// Listens as soon as Redis is there, and again whenever it is back. The callbacks run on Redis' thread: must not block.
  public static TakeoverNotices listen(
      RedisClient client, NodeId node, Consumer<Word> heard, Runnable resumed) {
    TakeoverNotices notices = new TakeoverNotices(client, node, heard, resumed);
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
      Word.parse(text).ifPresent(heard);
    }

    @Override
    public void subscribed(String to, long count) {
      LOG.info("event=takeover_notices_heard channel={}", to);
      resumed.run();
    }
  }
}
