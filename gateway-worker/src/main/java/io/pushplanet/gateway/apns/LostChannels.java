package io.pushplanet.gateway.apns;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Recipient;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/// Broadcast channels that Apple turns out not to have any more: whoever asks is told, and messages over them are refused.
/// Thread-safe.
final class LostChannels {
  private static final Logger LOG = LoggerFactory.getLogger(LostChannels.class);

  static final String NOT_REGISTERED = "ChannelNotRegistered";

  private final JdbcTemplate database;

  LostChannels(DataSource source) {
    this.database = new JdbcTemplate(source);
  }

  /// The app makes a new one itself: its devices have to subscribe to that.
  ///
  /// @param apnsId Apple's; a channel that has another by now is not lost
  /// @param bundleId of the credential to which Apple said so: to those of other bundles no channel of this one is registered
  void lost(AppId app, Recipient channel, String apnsId, String bundleId) {
    try {
      int written =
          database.update(
              """
              UPDATE live_activity_channels SET state = 'failed', reason = ?
              WHERE app_id = ? AND channel_id = ? AND state = 'ready' AND apns_id = ? AND bundle_id = ?
              """,
              NOT_REGISTERED,
              app.value(),
              channel.device().value(),
              apnsId,
              bundleId);
      if (written > 0) {
        LOG.warn("event=channel_lost appId={} channel={}", app, channel.device());
      }
    } catch (DataAccessException e) {
      // The next message over it finds the same.
      LOG.warn(
          "event=channel_not_marked_lost appId={} channel={} reason=\"{}\"",
          app,
          channel.device(),
          e.toString());
    }
  }
}
