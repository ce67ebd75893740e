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

/// Receives notices for this node within milliseconds. The script that issues an epoch also
/// publishes it to the former owner's node, so that the claim and the notice ([Notice]) are one
/// step. Other notices say that a device was deleted ([Denial]) or has a new user ([Handover]),
/// and, for a device that this node takes over, that the former owner has let it go ([Bequest]).
///
/// Redis drops a notice without a listener. So `resumed` is called whenever listening starts or
/// restarts: the node must compare all its sessions then. Thread-safe.
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

  /// A notice to a node about a device that it has, had, or takes over.
  public sealed interface Word {
    DeviceKey device();

    /// Empty for another form, which a later version may send.
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

  /// `owner` has the device now: `epoch|node|app/device`, as [SessionDirectory]'s scripts publish
  /// it.
  public record Notice(DeviceKey device, SessionOwner owner) implements Word {}

  /// From a node to the one that took a device from it: the state of the session when it ended
  /// there under `epoch`. `left|epoch|session|app/device`; it differs from a [Notice], so nodes of
  /// an earlier version ignore it.
  ///
  /// @param session in the nodes' own form; empty when there is no session to continue
  public record Bequest(DeviceKey device, long epoch, String session) implements Word {}

  /// The passwords of a device that end in this second of the epoch, or sooner, are denied:
  /// `denied|epoch|ends|app/device`, as [Denials] publishes it.
  ///
  /// @param epoch of the session that this node had at that time
  public record Denial(DeviceKey device, long epoch, long ends) implements Word {}

  /// The device has a new user: `handover|epoch|app/device`, as [Handovers] publishes it.
  ///
  /// @param epoch of the session that this node had at that time
  public record Handover(DeviceKey device, long epoch) implements Word {}

  private TakeoverNotices(RedisClient client, NodeId node, Consumer<Word> heard, Runnable resumed) {
    this.client = client;
    this.channel = CHANNEL + node.value();
    this.heard = heard;
    this.resumed = resumed;
  }

  /// Listens as soon as Redis can be reached, and again after each reconnect. The callbacks run on
  /// Redis' thread and must not block.
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
