package io.pushplanet.dispatcher.session;

import io.lettuce.core.MapScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.LastSeen;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ibatis.session.ExecutorType;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// Writes the session updates that [SessionUpdates] put into Redis to MySQL, in sorted batches.
/// Nodes add the devices that have connected, each once a day.
///
/// The pending hash is renamed to a claim before it is written to MySQL, and the claim is deleted
/// after the commit. A process that finds a claim left by a crash writes it again, because writing
/// twice changes nothing. Works on a thread of its own.
@Component
class SessionWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SessionWriter.class);

  /// The set of the claims' keys.
  static final String CLAIMS = "sessions:claims";

  private static final String CLAIM = "sessions:claim:";
  private static final String LOCK = "sessions:lock";
  private static final Duration LOCKED = Duration.ofSeconds(30);
  private static final int AT_ONCE = 512;

  /// KEYS pending, claims, the new claim.
  private static final String TAKE =
      """
      if redis.call('EXISTS', KEYS[3]) == 1 then return 1 end
      if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
      redis.call('RENAME', KEYS[1], KEYS[3])
      redis.call('SADD', KEYS[2], KEYS[3])
      return 1
      """;

  /// KEYS[1] lock; ARGV its holder, for how many ms from now.
  private static final String RENEW =
      """
      if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
      return 0
      """;

  /// KEYS[1] lock; ARGV[1] its holder.
  private static final String UNLOCK =
      """
      if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
      return 0
      """;

  private final RedisLink redis;
  private final SqlSessionFactory sessions;
  private final TransactionTemplate transactions;
  private final Duration period;
  private final Counter written;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread writer;

  SessionWriter(
      RedisLink redis,
      SqlSessionFactory sessions,
      PlatformTransactionManager transactions,
      DispatcherSettings settings,
      MeterRegistry meters) {
    this.redis = redis;
    this.sessions = sessions;
    this.transactions = new TransactionTemplate(transactions);
    this.transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    this.period = settings.sessionFlush();
    this.written = meters.counter("pushplanet.session.updates", "step", "written");
    this.writer = Thread.ofVirtual().name("session-writer").start(this::run);
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      writer.join(Duration.ofSeconds(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    boolean failing = false;
    boolean last = false;
    while (!last) {
      try {
        last = closed.await(period.toMillis(), TimeUnit.MILLISECONDS);
        writePending();
        failing = false;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (RuntimeException e) {
        if (!failing) {
          LOG.warn("event=sessions_not_written reason=\"{}\"", e.toString());
        }
        failing = true;
      }
    }
  }

  /// Only one process writes at a time, because two could write an old claim over a new one. Each
  /// claim is written at least once.
  private void writePending() {
    String holder = UUID.randomUUID().toString();
    String locked =
        redis.ask(commands -> commands.set(LOCK, holder, SetArgs.Builder.nx().px(LOCKED)));
    if (!"OK".equals(locked)) {
      return;
    }
    try {
      // Claims that a crash or an absence of MySQL left are older than the pending updates, and
      // would overwrite them if they were written later.
      writeClaims(holder);
      redis.ask(commands ->
          commands.<Long>eval(
              TAKE,
              ScriptOutputType.INTEGER,
              new String[] {LastSeen.PENDING, CLAIMS, CLAIM + holder}));
      writeClaims(holder);
    } finally {
      redis.ask(commands ->
          commands.<Long>eval(UNLOCK, ScriptOutputType.INTEGER, new String[] {LOCK}, holder));
    }
  }

  private void writeClaims(String holder) {
    for (String claim : redis.ask(commands -> commands.smembers(CLAIMS))) {
      write(claim, holder);
      // Not DEL: a claim may have millions of fields, and Redis would free them before it answers
      // anyone.
      redis.ask(commands -> commands.unlink(claim));
      redis.ask(commands -> commands.srem(CLAIMS, claim));
    }
  }

  private void write(String claim, String holder) {
    ScanCursor cursor = ScanCursor.INITIAL;
    do {
      keepLock(holder);
      ScanCursor from = cursor;
      MapScanCursor<String, String> page =
          redis.ask(commands -> commands.hscan(claim, from, ScanArgs.Builder.limit(AT_ONCE)));
      write(page.getMap());
      cursor = page;
    } while (!cursor.isFinished());
  }

  private void keepLock(String holder) {
    Long kept =
        redis.ask(commands ->
            commands.<Long>eval(
                RENEW,
                ScriptOutputType.INTEGER,
                new String[] {LOCK},
                holder,
                Long.toString(LOCKED.toMillis())));
    if (kept != 1) {
      throw new IllegalStateException("it took too long: another process writes them now");
    }
  }

  /// Writes each part in one transaction: a commit for each device would wait for the disk as many
  /// times. The rows are sorted, so that two writers never wait for each other in a circle.
  private void write(Map<String, String> page) {
    List<Seen> rows =
        page.entrySet().stream()
            .map(entry -> Seen.parse(entry.getKey(), entry.getValue()))
            .sorted(
                Comparator.comparing((Seen seen) -> seen.key().app())
                    .thenComparing(seen -> seen.key().device()))
            .toList();
    for (int from = 0; from < rows.size(); from += AT_ONCE) {
      List<Seen> some = rows.subList(from, Math.min(rows.size(), from + AT_ONCE));
      transactions.executeWithoutResult(_ -> {
        try (SqlSession session = sessions.openSession(ExecutorType.BATCH)) {
          SessionMapper batch = session.getMapper(SessionMapper.class);
          some.forEach(batch::seen);
          session.flushStatements();
        }
      });
      written.increment(some.size());
    }
  }
}
