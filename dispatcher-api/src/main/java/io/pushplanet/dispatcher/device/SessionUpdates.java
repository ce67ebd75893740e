package io.pushplanet.dispatcher.device;

import io.lettuce.core.MapScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.LastSeen;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.dispatcher.route.RouteLookup;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ibatis.session.ExecutorType;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// Session updates, written to Redis at once (one entry for each device, the newest wins) and to
/// MySQL soon, in sorted batches. Nodes add the devices that have connected, each once a day.
///
/// The pending hash is renamed to a claim before it is written to MySQL, and the claim is deleted
/// after the commit. A process that finds a claim left by a crash writes it again, because writing
/// twice changes nothing. While Redis is away, updates go to MySQL one by one. Thread-safe.
@Component
class SessionUpdates implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SessionUpdates.class);
  private static final String CLAIMS = "sessions:claims";
  private static final String CLAIM = "sessions:claim:";
  private static final String LOCK = "sessions:lock";
  private static final Duration LOCKED = Duration.ofSeconds(30);
  private static final int AT_ONCE = 512;

  /// KEYS[1] pending; ARGV device, then time, version, locale, time zone. An empty part leaves the
  /// present value.
  private static final String PUT =
      """
      local parts = {ARGV[2], ARGV[3], ARGV[4], ARGV[5]}
      local held = redis.call('HGET', KEYS[1], ARGV[1])
      if held then
        local i = 1
        for part in string.gmatch(held .. '\\n', '(.-)\\n') do
          if parts[i] == '' then parts[i] = part end
          i = i + 1
        end
      end
      redis.call('HSET', KEYS[1], ARGV[1], table.concat(parts, '\\n'))
      return 1
      """;

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
  private final RouteLookup routes;
  private final DeviceMapper mapper;
  private final SqlSessionFactory sessions;
  private final TransactionTemplate transactions;
  private final Clock clock;
  private final Duration period;
  private final Counter received;
  private final Counter written;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread writer;

  SessionUpdates(
      RedisLink redis,
      RouteLookup routes,
      DeviceMapper mapper,
      SqlSessionFactory sessions,
      PlatformTransactionManager transactions,
      Clock clock,
      DispatcherSettings settings,
      MeterRegistry meters) {
    this.redis = redis;
    this.routes = routes;
    this.mapper = mapper;
    this.sessions = sessions;
    this.transactions = new TransactionTemplate(transactions);
    this.transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    this.clock = clock;
    this.period = settings.sessionFlush();
    this.received = meters.counter("pushplanet.session.updates", "step", "received");
    this.written = meters.counter("pushplanet.session.updates", "step", "written");
    this.writer = Thread.ofVirtual().name("session-writer").start(this::run);
  }

  /// The newest update of a device.
  record Seen(
      DeviceKey key,
      Instant at,
      @Nullable String appVersion,
      @Nullable String locale,
      @Nullable String timezone) {
    static Seen parse(String device, String held) {
      String[] parts = held.split("\n", -1);
      int slash = device.indexOf('/');
      return new Seen(
          new DeviceKey(
              new AppId(device.substring(0, slash)), new DeviceId(device.substring(slash + 1))),
          Instant.ofEpochMilli(Long.parseLong(parts[0])),
          given(parts[1]),
          given(parts[2]),
          given(parts[3]));
    }

    private static @Nullable String given(String part) {
      return part.isEmpty() ? null : part;
    }
  }

  /// Returns when the update would survive a crash of this process.
  ///
  /// @return whether the device is known
  boolean update(AppId app, DeviceId device, SessionUpdate update) {
    received.increment();
    if (routes.find(app, List.of(device)).isEmpty()) {
      return false;
    }
    try {
      put(app, device, update);
      return true;
    } catch (DirectoryUnavailable e) {
      Seen seen =
          new Seen(
              new DeviceKey(app, device),
              clock.instant(),
              update.appVersion(),
              update.locale(),
              update.timezone());
      return mapper.seen(seen) > 0;
    }
  }

  /// The updates of a device that may not have reached its row yet, oldest first.
  ///
  /// @param until later updates are not among them
  record Told(Instant until, List<Seen> updates) {
    DeviceRegistry.Registered over(DeviceRegistry.Registered stored) {
      DeviceRegistry.Registered newest = stored;
      for (Seen update : updates) {
        newest = with(newest, update);
      }
      return newest;
    }
  }

  /// Empty while Redis is away.
  Told told(AppId app, DeviceId device) {
    Instant until = clock.instant().truncatedTo(ChronoUnit.MILLIS);
    try {
      String field = field(app, device);
      // Read first, although it is the newest: the pending hash may become a claim meanwhile, but a
      // claim never becomes pending again.
      String pending = redis.ask(commands -> commands.hget(LastSeen.PENDING, field));
      List<String> held = new ArrayList<>();
      for (String claim : redis.ask(commands -> commands.smembers(CLAIMS))) {
        held.add(redis.ask(commands -> commands.hget(claim, field)));
      }
      held.add(pending);
      return new Told(
          until,
          held.stream()
              .filter(Objects::nonNull)
              .map(text -> Seen.parse(field, text))
              .sorted(Comparator.comparing(Seen::at))
              .toList());
    } catch (DirectoryUnavailable e) {
      return new Told(until, List.of());
    }
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

  private void put(AppId app, DeviceId device, SessionUpdate update) {
    Long done =
        redis.ask(commands ->
            commands.<Long>eval(
                PUT,
                ScriptOutputType.INTEGER,
                new String[] {LastSeen.PENDING},
                field(app, device),
                Long.toString(clock.millis()),
                orEmpty(update.appVersion()),
                orEmpty(update.locale()),
                orEmpty(update.timezone())));
    if (done != 1) {
      throw new IllegalStateException("Redis ran another script");
    }
  }

  private static String field(AppId app, DeviceId device) {
    return app.value() + "/" + device.value();
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }

  /// An update that is older than the row has been written, or a later registration has replaced
  /// it. When the clocks of two dispatchers differ, or one was without Redis, an update may be left
  /// out here until the device reports again.
  private static DeviceRegistry.Registered with(DeviceRegistry.Registered device, Seen seen) {
    if (seen.at().isBefore(device.seenAt())) {
      return device;
    }
    Registration before = device.registration();
    return new DeviceRegistry.Registered(
        device.device(),
        new Registration(
            before.platform(),
            before.channels(),
            before.user(),
            seen.locale() == null ? before.locale() : seen.locale(),
            seen.timezone() == null ? before.timezone() : seen.timezone(),
            before.tags(),
            before.topics(),
            seen.appVersion() == null ? before.appVersion() : seen.appVersion()),
        device.createdAt(),
        device.updatedAt(),
        seen.at());
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
      redis.ask(commands -> commands.del(claim));
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
          DeviceMapper batch = session.getMapper(DeviceMapper.class);
          some.forEach(batch::seen);
          session.flushStatements();
        }
      });
      written.increment(some.size());
    }
  }
}
