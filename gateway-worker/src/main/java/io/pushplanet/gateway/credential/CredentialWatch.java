package io.pushplanet.gateway.credential;

import io.pushplanet.common.access.CredentialUnreadable;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.credential.CredentialProbe.Verdict;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/// Asks the providers about new credentials before they are activated, again where one could not be
/// asked, and about paused ones until they are accepted again. They are taken in the order of
/// `probe_at`. The worker that moves this time first has claimed the credential; if it dies,
/// another one continues after the claim. It also ends the overlap of replaced credentials. A slow
/// provider delays no other's credentials, as long as fewer than [#MAX_AT_ONCE] of its probes are
/// under way. Rounds run on one thread; the rest is thread-safe.
final class CredentialWatch {
  private static final Logger LOG = LoggerFactory.getLogger(CredentialWatch.class);
  private static final int MAX_AT_ONCE = 8;

  /// Longer than any probe.
  private static final Duration CLAIM = Duration.ofMinutes(1);

  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

  /// So often a provider that could not be asked about a new credential is asked, over an hour and
  /// a half. Apple may call the first token of a team's new key one too many for 20 minutes.
  static final int MOST_PROBES_BEFORE_USE = 22;

  private static final int LONGEST_REASON = 255;

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  private final CredentialVault vault;
  private final CredentialPauses pauses;
  private final Map<String, CredentialProbe> probes;
  private final Clock clock;
  private final RandomGenerator random;
  private final Semaphore places = new Semaphore(MAX_AT_ONCE);

  private record Wanted(
      CredentialRow row,
      AppId app,
      String state,
      @Nullable String pauseReason,
      Timestamp probeAt,
      int probes,
      @Nullable Timestamp expiresAt) {
    boolean paused() {
      return pauseReason != null;
    }
  }

  private record Ended(long id, AppId app) {}

  CredentialWatch(
      DataSource source,
      CredentialVault vault,
      CredentialPauses pauses,
      List<CredentialProbe> probes,
      Clock clock,
      RandomGenerator random) {
    this.database = new JdbcTemplate(source);
    this.transactions = new TransactionTemplate(new DataSourceTransactionManager(source));
    this.vault = vault;
    this.pauses = pauses;
    this.probes =
        probes.stream().collect(Collectors.toMap(CredentialProbe::provider, Function.identity()));
    this.clock = clock;
    this.random = random;
  }

  /// Begins to ask, and does not wait for the answers.
  ///
  /// @return whether there may be more to do at once
  boolean round() {
    endOverlaps();
    askAboutExpired();
    int free = places.availablePermits();
    if (free == 0) {
      return false;
    }
    Instant now = clock.instant();
    Timestamp claim = Timestamp.from(now.truncatedTo(ChronoUnit.MILLIS).plus(CLAIM));
    List<Wanted> wanted = wanted(now, free);
    for (Wanted one : wanted) {
      if (isMine(one, claim)) {
        places.acquireUninterruptibly();
        Thread.ofVirtual().name("credential-probe").start(() -> ask(one, claim));
      }
    }
    return wanted.size() == free && places.availablePermits() > 0;
  }

  private List<Wanted> wanted(Instant now, int most) {
    return database.query(
        """
        SELECT id, app_id, provider, environment, kind, detail, secret, state, pause_reason, probe_at, probes,
          expires_at
        FROM credentials WHERE probe_at <= ? ORDER BY probe_at LIMIT ?
        """,
        (row, _) ->
            new Wanted(
                CredentialRow.of(row),
                new AppId(row.getString("app_id")),
                row.getString("state"),
                row.getString("pause_reason"),
                row.getTimestamp("probe_at"),
                row.getInt("probes"),
                row.getTimestamp("expires_at")),
        Timestamp.from(now),
        most);
  }

  private boolean isMine(Wanted wanted, Timestamp claim) {
    return database.update(
            "UPDATE credentials SET probe_at = ? WHERE id = ? AND probe_at = ?",
            claim,
            wanted.row().id(),
            wanted.probeAt())
        > 0;
  }

  private void ask(Wanted wanted, Timestamp claim) {
    try {
      judged(wanted, verdict(wanted), claim);
    } catch (RuntimeException e) {
      // Another round asks again when the claim is over.
      LOG.warn("event=credential_not_judged credentialId={}", wanted.row().id(), e);
    } finally {
      places.release();
    }
  }

  private Verdict verdict(Wanted wanted) {
    CredentialRow row = wanted.row();
    Timestamp end = wanted.expiresAt();
    if (end != null && !end.toInstant().isAfter(clock.instant())) {
      // Apple would end the TLS handshake, which says nothing about the credential.
      return new Verdict.Refused("the certificate has ended on " + end.toInstant());
    }
    CredentialProbe probe = probes.get(row.provider());
    if (probe == null) {
      // A push service knows a key only together with a subscription. The next message will tell.
      return new Verdict.Accepted("cannot be asked for without a device");
    }
    try {
      byte[] secret =
          vault.decrypt(wanted.app(), row.provider(), row.environment(), row.id(), row.secret());
      return probe.ask(CredentialParser.parse(row, secret), row.environment());
    } catch (CredentialUnreadable e) {
      // The master key is at fault, perhaps only this worker's: the provider was not asked.
      return new Verdict.Unreachable(String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException e) {
      return new Verdict.Refused(String.valueOf(e.getMessage()));
    }
  }

  private void judged(Wanted wanted, Verdict verdict, Timestamp claim) {
    CredentialRow row = wanted.row();
    LOG.info(
        "event=credential_asked_about appId={} provider={} environment={} credentialId={} verdict=\"{}\"",
        wanted.app(),
        row.provider(),
        row.environment(),
        row.id(),
        verdict);
    boolean inUse = !wanted.state().equals("candidate");
    switch (verdict) {
      case Verdict.Accepted(String how) -> {
        write(wanted, "accepted", how, null, claim);
        if (wanted.pauseReason() != null) {
          pauses.resume(
              row.id(), wanted.app(), row.provider(), row.environment(), wanted.pauseReason());
        }
      }
      case Verdict.Refused(String reason) -> {
        write(wanted, "refused", reason, wanted.paused() ? next(wanted) : null, claim);
        if (inUse && !wanted.paused()) {
          pauses.pause(
              row.id(),
              wanted.app(),
              row.provider(),
              row.environment(),
              reason,
              CredentialPauses.FIRST_PROBE);
        }
      }
      case Verdict.Unreachable(String why) -> {
        boolean again = wanted.paused() || (!inUse && wanted.probes() + 1 < MOST_PROBES_BEFORE_USE);
        write(wanted, "unreachable", why, again ? next(wanted) : null, claim);
      }
    }
  }

  /// Asks again after 10, 20, 40 seconds, finally every five minutes.
  private Instant next(Wanted wanted) {
    Duration pause = CredentialPauses.FIRST_PROBE.multipliedBy(2L << Math.min(wanted.probes(), 20));
    Duration bounded = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
    return clock.instant().plus(bounded).plusMillis(random.nextLong(1 + bounded.toMillis() / 4));
  }

  /// Writes the verdict, unless the credential was paused or resumed meanwhile: its next probe is
  /// set already then. If the claim was moved while the provider was asked, for example by an
  /// operator's "Try again", that time stays. While a credential is paused its claim never becomes
  /// "no more probes", so that another worker continues when this one dies here.
  private void write(
      Wanted wanted, String verdict, String reason, @Nullable Instant next, Timestamp claim) {
    database.update(
        """
        UPDATE credentials
        SET probe_verdict = ?, probe_reason = ?, probed_at = ?, probes = probes + 1,
          probe_at = IF(probe_at = ?, COALESCE(?, IF(paused_at IS NULL, NULL, probe_at)), probe_at)
        WHERE id = ? AND (paused_at IS NOT NULL) = ?
        """,
        verdict,
        Attempt.shortened(reason, LONGEST_REASON),
        Timestamp.from(clock.instant()),
        claim,
        next == null ? null : Timestamp.from(next),
        wanted.row().id(),
        wanted.paused());
  }

  /// A certificate that has ended is refused without an answer, so no send would pause it.
  private void askAboutExpired() {
    Timestamp now = Timestamp.from(clock.instant());
    List<Long> expired =
        database.query(
            """
            SELECT id FROM credentials
            WHERE expires_at <= ? AND state IN ('active', 'overlapping') AND paused_at IS NULL AND probe_at IS NULL
            LIMIT 100
            """,
            (row, _) -> row.getLong("id"),
            now);
    for (long id : expired) {
      database.update(
          "UPDATE credentials SET probe_at = ? WHERE id = ? AND probe_at IS NULL", now, id);
    }
  }

  /// From then on the former credential no longer stands in, and cannot be rolled back to.
  private void endOverlaps() {
    Timestamp now = Timestamp.from(clock.instant());
    List<Ended> ended =
        database.query(
            "SELECT id, app_id FROM credentials WHERE overlap_until <= ? LIMIT 100",
            (row, _) -> new Ended(row.getLong("id"), new AppId(row.getString("app_id"))),
            now);
    for (Ended one : ended) {
      transactions.executeWithoutResult(_ -> {
        int retired =
            database.update(
                """
                UPDATE credentials
                SET state = 'retired', overlap_until = NULL, probe_at = NULL, paused_at = NULL, pause_reason = NULL
                WHERE id = ? AND state = 'overlapping' AND overlap_until <= ?
                """,
                one.id(),
                now);
        if (retired > 0) {
          pauses.tell(one.app(), one.id());
        }
      });
    }
  }
}
