package io.pushplanet.common.session;

import io.lettuce.core.RedisClient;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Receives notices for this node within milliseconds ([SessionNotice]). The script that issues an
/// epoch also publishes it to the former owner's node, so that the claim and the notice are one
/// step.
///
/// Redis drops a notice without a listener. So `resumed` is called whenever listening starts or
/// restarts: the node must compare all its sessions then. Thread-safe.
public final class TakeoverNotices implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TakeoverNotices.class);
  private static final String CHANNEL = "takeover:";
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final RedisClient client;
  private final String channel;
  private final Consumer<SessionNotice> heard;
  private final Runnable resumed;
  private final AtomicReference<@Nullable StatefulRedisPubSubConnection<String, String>>
      connection = new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  private TakeoverNotices(
      RedisClient client, NodeId node, Consumer<SessionNotice> heard, Runnable resumed) {
    this.client = client;
    this.channel = CHANNEL + node.value();
    this.heard = heard;
    this.resumed = resumed;
  }

  /// Listens as soon as Redis can be reached, and again after each reconnect. The callbacks run on
  /// Redis' thread and must not block.
  public static TakeoverNotices listen(
      RedisClient client, NodeId node, Consumer<SessionNotice> heard, Runnable resumed) {
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
      SessionNotice.parse(text).ifPresent(heard);
    }

    @Override
    public void subscribed(String to, long count) {
      LOG.info("event=takeover_notices_heard channel={}", to);
      resumed.run();
    }
  }
}
