package io.pushplanet.gateway.credential;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.later.LaterStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/// Pauses a credential that its provider refuses, and resumes it. Both are announced in the same
/// transaction: to every worker by `changes`, to operators by an alert and the audit log. The
/// messages wait in `later` meanwhile. Thread-safe.
final class CredentialPauses {
  private static final Logger LOG = LoggerFactory.getLogger(CredentialPauses.class);

  /// How soon the provider is asked about a refused credential, because the refusal may have been a
  /// slip.
  static final Duration FIRST_PROBE = Duration.ofSeconds(5);

  /// When asking cannot tell, some messages are let through after so long.
  static final Duration FIRST_TRIAL = Duration.ofMinutes(5);

  /// Follows the provider's word when it was doubtful and came for nearly every device. The
  /// messages that wait have the word alone as their reason.
  static final String BY_NEARLY_EVERY_DEVICE = " for nearly every device";

  private static final String WORKER = "gateway-worker";
  private static final int LONGEST_REASON = 128;

  private final DataSource source;
  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  private final LaterStore later;
  private final Alerts alerts;
  private final Clock clock;
  private final MeterRegistry meters;

  CredentialPauses(DataSource source, Alerts alerts, Clock clock, MeterRegistry meters) {
    this.source = source;
    this.database = new JdbcTemplate(source);
    this.transactions = new TransactionTemplate(new DataSourceTransactionManager(source));
    this.later = new LaterStore(source);
    this.alerts = alerts;
    this.clock = clock;
    this.meters = meters;
  }

  /// @param firstProbe when the provider is asked again
  /// @return false when the pause could not be written; the next refusal tries again
  boolean pause(CredentialStanding standing, String reason, Duration firstProbe) {
    return pause(
        standing.id, standing.app, standing.provider, standing.environment, reason, firstProbe);
  }

  boolean pause(
      long id, AppId app, String provider, String environment, String reason, Duration firstProbe) {
    Instant now = clock.instant();
    try {
      transactions.executeWithoutResult(_ -> {
        int paused =
            database.update(
                """
                UPDATE credentials SET paused_at = ?, pause_reason = ?, probe_at = ?, probes = 0
                WHERE id = ? AND state IN ('active', 'overlapping') AND paused_at IS NULL
                """,
                Timestamp.from(now),
                Attempt.shortened(reason, LONGEST_REASON),
                Timestamp.from(now.plus(firstProbe)),
                id);
        if (paused > 0) {
          tell(app, id);
          audit(now, "credential_paused", app, provider, environment, id + " " + reason);
          alerts.tell(
              Alerts.Kind.CREDENTIAL_PAUSED,
              app,
              id + "/" + now.toEpochMilli(),
              provider + "/" + environment,
              "The provider refuses this credential: "
                  + reason
                  + ". Nothing is sent with it; its messages wait until their time to live ends. It is"
                  + " tried again by itself; upload another one if this one is not to be repaired.");
          LOG.error(
              "event=credential_paused appId={} provider={} environment={} credentialId={} reason=\"{}\"",
              app,
              provider,
              environment,
              id,
              reason);
          meters.counter("pushplanet.credential.pauses", "provider", provider).increment();
        }
      });
      return true;
    } catch (DataAccessException | TransactionException e) {
      LOG.warn("event=credential_not_paused credentialId={} reason=\"{}\"", id, e.toString());
      return false;
    }
  }

  /// @param reason why it was paused
  /// @return whether it was paused until now
  boolean resume(long id, AppId app, String provider, String environment, String reason) {
    Instant now = clock.instant();
    Boolean resumed =
        transactions.execute(_ -> {
          int rows =
              database.update(
                  """
                  UPDATE credentials SET paused_at = NULL, pause_reason = NULL, probe_at = NULL, probes = 0
                  WHERE id = ? AND paused_at IS NOT NULL
                  """,
                  id);
          if (rows == 0) {
            return false;
          }
          tell(app, id);
          audit(now, "credential_resumed", app, provider, environment, Long.toString(id));
          alerts.tell(
              Alerts.Kind.CREDENTIAL_RESUMED,
              app,
              id + "/" + now.toEpochMilli(),
              provider + "/" + environment,
              "The provider takes this credential again; what waited for it is sent now.");
          return true;
        });
    if (!Boolean.TRUE.equals(resumed)) {
      return false;
    }
    LOG.info("event=credential_resumed appId={} provider={} credentialId={}", app, provider, id);
    bringForward(app, provider, reason);
    return true;
  }

  /// Brings the messages forward that wait for a credential. Those that cannot be brought forward
  /// come back by themselves.
  ///
  /// @param reason why it was paused
  void bringForward(AppId app, String provider, String reason) {
    List<String> lanes =
        Arrays.stream(Channel.values())
            .filter(channel -> channel.word().equals(provider))
            .flatMap(channel ->
                Arrays.stream(Priority.values()).map(priority -> Topology.lane(channel, priority)))
            .toList();
    String word =
        reason.endsWith(BY_NEARLY_EVERY_DEVICE)
            ? reason.substring(0, reason.length() - BY_NEARLY_EVERY_DEVICE.length())
            : reason;
    try {
      later.bringAllForward(
          app,
          lanes,
          List.of(CredentialLookup.Paused.REASON, CredentialLookup.Unreadable.REASON, word),
          clock.instant());
    } catch (DataAccessException | TransactionException e) {
      LOG.warn("event=later_not_brought_forward appId={} reason=\"{}\"", app, e.toString());
    }
  }

  private void audit(
      Instant now, String action, AppId app, String provider, String environment, String detail) {
    database.update(
        "INSERT INTO audit (at, operator, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
        Timestamp.from(now),
        WORKER,
        action,
        app + "/" + provider + "/" + environment,
        detail);
  }

  /// In the caller's transaction.
  void tell(AppId app, long id) {
    Connection connection = DataSourceUtils.getConnection(source);
    try {
      ChangeFeed.record(connection, clock, Change.Kind.CREDENTIAL, app, Long.toString(id));
    } catch (SQLException e) {
      throw new DataAccessResourceFailureException("a change could not be written", e);
    } finally {
      DataSourceUtils.releaseConnection(connection, source);
    }
  }
}
