package io.pushplanet.gateway.apns;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.credential.Credential.Apns;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialLookup;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/// Finds broadcast channels that Apple no longer has, so that the API says so and messages to them
/// are refused. Nothing brings a lost channel back, and Apple's answer to a message may come from a
/// single server, so Apple is asked for the channel itself first. Thread-safe.
final class LostChannels {
  private static final Logger LOG = LoggerFactory.getLogger(LostChannels.class);

  static final String NOT_REGISTERED = "ChannelNotRegistered";

  /// A doubt that finds no room here comes back with the next message to the channel.
  private static final int MAX_DOUBTS = 8;

  /// A doubt that leads to nothing, as with another bundle's channel, comes back with each message
  /// to it. It must leave room for other apps.
  private static final int MAX_OF_AN_APP = 2;

  /// With credentials of another bundle Apple does not know a channel, and a channel that has
  /// another id by now is not lost.
  private static final String ITS_ROW =
      " WHERE app_id = ? AND channel_id = ? AND apns_id = ? AND bundle_id = ? AND state = 'ready'";

  private static final String FIND = "SELECT 1 FROM live_activity_channels" + ITS_ROW;
  private static final String FAIL =
      "UPDATE live_activity_channels SET reason = ?, state = 'failed'" + ITS_ROW;

  private final JdbcTemplate database;
  private final BroadcastChannels channels;
  private final CredentialCache credentials;
  private final Set<Doubt> doubts = ConcurrentHashMap.newKeySet();

  /// @param apnsId Apple's
  private record Doubt(AppId app, DeviceId channel, String environment, String apnsId) {}

  LostChannels(DataSource source, BroadcastChannels channels, CredentialCache credentials) {
    this.database = new JdbcTemplate(source);
    this.channels = channels;
    this.credentials = credentials;
  }

  /// Apple said, in answer to a message, that it has no such channel. Does not block.
  ///
  /// @param apnsId Apple's
  void doubt(AppId app, DeviceId channel, String environment, String apnsId) {
    long itsOwn = doubts.stream().filter(doubt -> doubt.app().equals(app)).count();
    if (doubts.size() < MAX_DOUBTS && itsOwn < MAX_OF_AN_APP) {
      doubts.add(new Doubt(app, channel, environment, apnsId));
    }
  }

  /// Checks all doubted channels.
  void round() {
    try (ExecutorService asking = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Doubt doubt : doubts) {
        asking.execute(() -> see(doubt));
      }
    }
  }

  private void see(Doubt doubt) {
    try {
      if (credentials.apns(doubt.app(), doubt.environment())
          instanceof CredentialLookup.Found<Apns>(ApnsKey key, var _)) {
        see(doubt, key);
      }
    } catch (RuntimeException e) {
      // The next message to the channel raises the doubt again.
      LOG.warn(
          "event=channel_not_looked_for appId={} channel={} reason=\"{}\"",
          doubt.app(),
          doubt.channel(),
          e.toString());
    } finally {
      doubts.remove(doubt);
    }
  }

  /// Marks the channel as failed if Apple does not know it. It is not made anew: the app does that
  /// itself, because its devices have to subscribe to the new one.
  private void see(Doubt doubt, ApnsKey key) {
    String app = doubt.app().value();
    String channel = doubt.channel().value();
    boolean known =
        !database
            .queryForList(FIND, Integer.class, app, channel, doubt.apnsId(), key.bundleId())
            .isEmpty();
    if (known && channels.isUnknown(key, doubt.environment(), doubt.apnsId())) {
      database.update(FAIL, NOT_REGISTERED, app, channel, doubt.apnsId(), key.bundleId());
      LOG.warn("event=channel_lost appId={} channel={}", doubt.app(), doubt.channel());
    }
  }
}
