package io.pushplanet.gateway.apns;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.apns.BroadcastChannels.Answer;
import io.pushplanet.gateway.credential.Credential.Apns;
import io.pushplanet.gateway.credential.Credential.ApnsCertificate;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialLookup;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/// Creates and deletes at Apple the broadcast channels that apps have asked for. They are taken in
/// the order of `due_at`. The worker that moves this time first has claimed the channel; if it
/// dies, another one continues after the claim. A request cannot be repeated: when Apple's answer
/// is lost, the channel stays there, and nobody knows its id. Thread-safe.
final class ChannelKeeper {
  private static final Logger LOG = LoggerFactory.getLogger(ChannelKeeper.class);
  private static final int MAX_AT_ONCE = 8;

  /// Pauses double up to [#LONGEST_PAUSE], some two hours in all.
  private static final int MAX_TRIES = 30;

  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

  /// Longer than any request.
  private static final Duration CLAIM = Duration.ofMinutes(2);

  private final JdbcTemplate database;
  private final BroadcastChannels channels;
  private final CredentialCache credentials;
  private final Clock clock;
  private final RandomGenerator random;
  private final MeterRegistry meters;

  private record Wanted(
      AppId app,
      String channel,
      String environment,
      boolean keepsNewest,
      boolean delete,
      @Nullable String apnsId,
      @Nullable String bundleId,
      Timestamp dueAt,
      int tries) {
    String action() {
      return delete ? "delete" : "make";
    }
  }

  ChannelKeeper(
      DataSource source,
      BroadcastChannels channels,
      CredentialCache credentials,
      Clock clock,
      RandomGenerator random,
      MeterRegistry meters) {
    this.database = new JdbcTemplate(source);
    this.channels = channels;
    this.credentials = credentials;
    this.clock = clock;
    this.random = random;
    this.meters = meters;
  }

  /// @return whether there may be more to do at once
  boolean round() {
    Instant now = clock.instant();
    Timestamp claim = Timestamp.from(now.truncatedTo(ChronoUnit.MILLIS).plus(CLAIM));
    List<Wanted> wanted = wanted(now);
    try (ExecutorService asking = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Wanted one : wanted) {
        if (isMine(one, claim)) {
          asking.execute(() -> see(one));
        }
      }
    }
    return wanted.size() == MAX_AT_ONCE;
  }

  private List<Wanted> wanted(Instant now) {
    return database.query(
        """
        SELECT app_id, channel_id, environment, keeps, state, apns_id, bundle_id, due_at, tries
        FROM live_activity_channels WHERE due_at <= ? ORDER BY due_at LIMIT ?
        """,
        (row, _) ->
            new Wanted(
                new AppId(row.getString("app_id")),
                row.getString("channel_id"),
                row.getString("environment"),
                row.getString("keeps").equals("newest"),
                row.getString("state").equals("deleting"),
                row.getString("apns_id"),
                row.getString("bundle_id"),
                row.getTimestamp("due_at"),
                row.getInt("tries")),
        Timestamp.from(now),
        MAX_AT_ONCE);
  }

  private boolean isMine(Wanted wanted, Timestamp claim) {
    return update(
            "SET due_at = ?, tries = tries + 1 WHERE due_at = ?", wanted, claim, wanted.dueAt())
        > 0;
  }

  private void see(Wanted wanted) {
    try {
      write(wanted, answer(wanted));
    } catch (RuntimeException e) {
      // Another round tries again when the claim is over.
      LOG.warn("event=channel_not_kept appId={} channel={}", wanted.app(), wanted.channel(), e);
    }
  }

  private Answer answer(Wanted wanted) {
    String apnsId = wanted.apnsId();
    if (!wanted.delete()) {
      return withKey(wanted, key -> channels.make(key, wanted.environment(), wanted.keepsNewest()));
    }
    return apnsId == null ? new Answer.Gone() : deleted(wanted, apnsId, wanted.bundleId());
  }

  /// With another bundle's key Apple says that there is no such channel, and the channel's id would
  /// be forgotten for good. The bundle's own key may be back soon.
  ///
  /// @param bundleId the bundle of the channel; null when it is unknown
  private Answer deleted(Wanted wanted, String apnsId, @Nullable String bundleId) {
    return withKey(
        wanted,
        key ->
            bundleId == null || bundleId.equals(key.bundleId())
                ? channels.delete(key, wanted.environment(), apnsId)
                : new Answer.NotNow("another_bundle", BroadcastChannels.REST));
  }

  private Answer withKey(Wanted wanted, Function<ApnsKey, Answer> request) {
    return switch (credentials.apns(wanted.app(), wanted.environment())) {
      case CredentialLookup.Missing<Apns> _ -> new Answer.Refused("no_credential");
      case CredentialLookup.Unreadable<Apns> _ ->
          new Answer.Refused(CredentialLookup.Unreadable.REASON);
      case CredentialLookup.Paused<Apns> _ ->
          new Answer.NotNow(CredentialLookup.Paused.REASON, BroadcastChannels.REST);
      case CredentialLookup.Unavailable<Apns> _ ->
          new Answer.NotNow("credentials_unavailable", BroadcastChannels.REST);
      case CredentialLookup.Found<Apns>(Apns credential, var _) ->
          switch (credential) {
            case ApnsKey key -> request.apply(key);
            case ApnsCertificate _ -> new Answer.Refused("live_activity_needs_a_p8_key");
          };
    };
  }

  private void write(Wanted wanted, Answer answer) {
    switch (answer) {
      case Answer.Made(String id, String bundle) -> made(wanted, id, bundle);
      case Answer.Gone() ->
          database.update(
              "DELETE FROM live_activity_channels WHERE app_id = ? AND channel_id = ?",
              wanted.app().value(),
              wanted.channel());
      case Answer.Refused(String reason) -> failed(wanted, reason);
      case Answer.NotNow(String reason, Duration after) -> {
        if (wanted.tries() + 1 >= MAX_TRIES) {
          failed(wanted, reason);
        } else {
          Duration pause = after.multipliedBy(1L << Math.min(wanted.tries(), 10));
          Duration bounded = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
          Duration wait = bounded.compareTo(after) < 0 ? after : bounded;
          update(
              "SET reason = ?, due_at = ? WHERE state IN ('pending', 'deleting')",
              wanted,
              reason,
              Timestamp.from(
                  clock.instant().plus(wait).plusMillis(random.nextLong(1 + wait.toMillis() / 4))));
        }
      }
    }
    String outcome =
        switch (answer) {
          case Answer.Made _, Answer.Gone _ -> "done";
          case Answer.Refused _ -> "refused";
          case Answer.NotNow _ -> "not_now";
        };
    meters
        .counter("pushplanet.apns.channels", "action", wanted.action(), "outcome", outcome)
        .increment();
    LOG.info(
        "event=channel_kept appId={} channel={} action={} answer=\"{}\"",
        wanted.app(),
        wanted.channel(),
        wanted.action(),
        answer);
  }

  /// Stores the channel's id. If the app has asked for its deletion meanwhile, that comes next. If
  /// another worker has made the channel meanwhile, because the claim ended before Apple answered,
  /// this one is deleted again.
  private void made(Wanted wanted, String id, String bundle) {
    Timestamp now = Timestamp.from(clock.instant());
    int written =
        update(
            """
            SET apns_id = ?, bundle_id = ?, ready_at = ?, reason = NULL, tries = 0, due_at = IF(state = 'deleting', ?, NULL),
              state = IF(state = 'deleting', state, 'ready')
            WHERE apns_id IS NULL
            """,
            wanted,
            id,
            bundle,
            now,
            now);
    if (written == 0) {
      deleted(wanted, id, bundle);
    }
  }

  private void failed(Wanted wanted, String reason) {
    update(
        "SET state = 'failed', reason = ?, due_at = NULL WHERE state = ?",
        wanted,
        reason,
        wanted.delete() ? "deleting" : "pending");
  }

  private int update(String change, Wanted wanted, Object... values) {
    Object[] all = new Object[values.length + 2];
    System.arraycopy(values, 0, all, 0, values.length);
    all[values.length] = wanted.app().value();
    all[values.length + 1] = wanted.channel();
    return database.update(
        "UPDATE live_activity_channels " + change + " AND app_id = ? AND channel_id = ?", all);
  }
}
