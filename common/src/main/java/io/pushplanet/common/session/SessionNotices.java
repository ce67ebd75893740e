package io.pushplanet.common.session;

import io.lettuce.core.RedisClient;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.AwaitedConnection;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Receives notices for this node within milliseconds ([SessionNotice]). The script that issues an
/// epoch also publishes it to the former owner's node, so that the claim and the notice are one
/// step.
///
/// Redis drops a notice without a listener. So `resumed` is called whenever listening starts or
/// restarts: the node must compare all its sessions then. Thread-safe.
public final class SessionNotices implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SessionNotices.class);
  private static final String CHANNEL = "takeover:";

  private final RedisClient client;
  private final String channel;
  private final Consumer<SessionNotice> heard;
  private final Runnable resumed;
  private final AwaitedConnection<StatefulRedisPubSubConnection<String, String>> connection =
      new AwaitedConnection<>(
          this::subscribed,
          failure -> LOG.debug("event=takeover_notices_awaited reason=\"{}\"", failure.toString()));

  private SessionNotices(
      RedisClient client, NodeId node, Consumer<SessionNotice> heard, Runnable resumed) {
    this.client = client;
    this.channel = CHANNEL + node.value();
    this.heard = heard;
    this.resumed = resumed;
  }

  /// Listens as soon as Redis can be reached, and again after each reconnect. The callbacks run on
  /// Redis' thread and must not block.
  public static SessionNotices listen(
      RedisClient client, NodeId node, Consumer<SessionNotice> heard, Runnable resumed) {
    SessionNotices notices = new SessionNotices(client, node, heard, resumed);
    Thread.ofVirtual()
        .name("takeover-notices")
        .start(() -> {
          if (!notices.connection.connects()) {
            notices.connection.connectsLater();
          }
        });
    return notices;
  }

  @Override
  public void close() {
    connection.close();
  }

  private StatefulRedisPubSubConnection<String, String> subscribed() {
    StatefulRedisPubSubConnection<String, String> opened = client.connectPubSub();
    try {
      opened.addListener(new Listener());
      // Lettuce subscribes again by itself after each reconnect.
      opened.sync().subscribe(channel);
      return opened;
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
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
