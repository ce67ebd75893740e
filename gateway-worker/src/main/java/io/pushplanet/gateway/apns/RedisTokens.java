package io.pushplanet.gateway.apns;

import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import io.pushplanet.common.access.CredentialUnreadable;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Shares provider tokens through Redis, sealed with the vault. When Redis is away or does not
/// answer within [#DEADLINE], at first within [#FIRST_DEADLINE], nothing is shared, and each worker
/// continues with its own tokens. Thread-safe.
final class RedisTokens implements SharedTokens, AutoCloseable {
  static final Duration DEADLINE = Duration.ofSeconds(2);

  /// The deadline that includes connecting. A worker that has just started on a busy machine needs
  /// seconds for that, and a token that it made alone would be one too many for the team. If Redis
  /// does not listen at all, that is known at once.
  static final Duration FIRST_DEADLINE = Duration.ofSeconds(10);

  private static final Logger LOG = LoggerFactory.getLogger(RedisTokens.class);

  /// KEYS[1] token, KEYS[2] the team's renewals; ARGV offered, life in ms, replaceable or "", key's
  /// name, when the token was made, how long the renewals are kept. The first worker's offer stands
  /// until its life is over. The renewals are told again, too, when Redis has lost them.
  private static final String AGREE =
      """
      local held = redis.call('GET', KEYS[1])
      if held and held ~= ARGV[3] then return held end
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
      redis.call('HSETNX', KEYS[2], ARGV[4], ARGV[5])
      redis.call('PEXPIRE', KEYS[2], ARGV[6])
      return ARGV[1]
      """;

  /// The same for a new token; also ARGV from and until: when any key of the team has had a new
  /// token between them, the former one stays. Forgets keys that have had none for long. Times are
  /// in ms.
  private static final String RENEW =
      """
      local held = redis.call('GET', KEYS[1])
      if held and held ~= ARGV[3] then return held end
      local renewals = redis.call('HGETALL', KEYS[2])
      for i = 1, #renewals, 2 do
        local at = tonumber(renewals[i + 1])
        if at > tonumber(ARGV[7]) and at < tonumber(ARGV[8]) then return false end
      end
      for i = 1, #renewals, 2 do
        if tonumber(renewals[i + 1]) < ARGV[5] - ARGV[6] then
          redis.call('HDEL', KEYS[2], renewals[i])
        end
      end
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
      redis.call('HSET', KEYS[2], ARGV[4], ARGV[5])
      redis.call('PEXPIRE', KEYS[2], ARGV[6])
      return ARGV[1]
      """;

  /// The vault binds a secret to an app; these belong to none.
  private static final AppId CLUSTER = new AppId("provider-tokens");

  private final RedisClient client;
  private final CredentialVault vault;
  private final ReentrantLock connecting = new ReentrantLock();
  private volatile @Nullable StatefulRedisConnection<String, byte[]> connection;

  RedisTokens(RedisClient client, CredentialVault vault) {
    this.client = client;
    this.vault = vault;
  }

  @Override
  public Known current(ApnsKey key) {
    return asked(redis -> Optional.ofNullable(redis.sync().get(name(key))))
        .map(held ->
            held.flatMap(sealed -> open(key, sealed))
                .<Known>map(Known.Agreed::new)
                .orElseGet(Known.None::new))
        .orElseGet(Known.Silent::new);
  }

  @Override
  public List<Optional<ProviderToken>> current(List<ApnsKey> keys) {
    String[] names = keys.stream().map(RedisTokens::name).toArray(String[]::new);
    List<KeyValue<String, byte[]>> all =
        names.length == 0
            ? List.of()
            : asked(redis -> redis.sync().mget(names)).orElseGet(List::of);
    List<Optional<ProviderToken>> tokens = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      ApnsKey key = keys.get(i);
      tokens.add(all.get(i).optional().flatMap(sealed -> open(key, sealed)));
    }
    return tokens;
  }

  @Override
  public Optional<ProviderToken> agree(
      ApnsKey key, ProviderToken offer, @Nullable ProviderToken refused, Duration life) {
    return offered(AGREE, key, offer, refused, life);
  }

  @Override
  public Optional<ProviderToken> renew(
      ApnsKey key,
      ProviderToken offer,
      @Nullable ProviderToken former,
      Duration life,
      @Nullable Instant noneSince) {
    return noneSince == null
        ? offered(RENEW, key, offer, former, life, bytes(0), bytes(0))
        : offered(
            RENEW,
            key,
            offer,
            former,
            life,
            bytes(noneSince.toEpochMilli()),
            bytes(Team.ahead(noneSince).toEpochMilli()));
  }

  private Optional<ProviderToken> offered(
      String script,
      ApnsKey key,
      ProviderToken offer,
      @Nullable ProviderToken former,
      Duration life,
      byte[]... more) {
    return asked(
            redis -> {
              List<byte[]> values = new ArrayList<>();
              values.add(seal(key, offer));
              values.add(bytes(life.toMillis()));
              values.add(replaceable(key, redis.sync().get(name(key)), former));
              values.add(Team.name(key).getBytes(StandardCharsets.UTF_8));
              values.add(bytes(offer.issuedAt().toEpochMilli()));
              values.add(bytes(Team.REMEMBERED.toMillis()));
              values.addAll(List.of(more));
              return redis
                  .sync()
                  .<byte[]>eval(
                      script,
                      ScriptOutputType.VALUE,
                      new String[] {name(key), renewals(key)},
                      values.toArray(byte[][]::new));
            })
        .flatMap(sealed -> open(key, sealed));
  }

  @Override
  public Team team(ApnsKey key) {
    return asked(redis ->
            new Team(
                times(redis.sync().hgetall(renewals(key))),
                times(redis.sync().hgetall(waiting(key)))))
        .orElse(Team.UNKNOWN);
  }

  @Override
  public void accepted(ApnsKey key, Instant at) {
    var _ =
        asked(redis -> {
          redis.sync().hset(renewals(key), Team.name(key), bytes(at.toEpochMilli()));
          return redis.sync().hdel(waiting(key), Team.name(key));
        });
  }

  @Override
  public void waits(ApnsKey key, Instant at) {
    var _ =
        asked(redis -> {
          redis.sync().hset(waiting(key), Team.name(key), bytes(at.toEpochMilli()));
          return redis.sync().pexpire(waiting(key), Team.REMEMBERED);
        });
  }

  private static Map<String, Instant> times(Map<String, byte[]> all) {
    return all.entrySet().stream()
        .collect(
            Collectors.toUnmodifiableMap(
                Map.Entry::getKey,
                it ->
                    Instant.ofEpochMilli(
                        Long.parseLong(new String(it.getValue(), StandardCharsets.US_ASCII)))));
  }

  private static byte[] bytes(long number) {
    return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
  }

  /// The bytes in Redis that may be replaced. Sealing is randomized, so that the bytes are compared
  /// after their content was checked. Bytes that cannot be opened (sealed with an earlier master
  /// key) may be replaced as well.
  private byte[] replaceable(ApnsKey key, byte @Nullable [] held, @Nullable ProviderToken refused) {
    if (held == null) {
      return new byte[0];
    }
    Optional<ProviderToken> inside = open(key, held);
    boolean stays =
        inside.isPresent() && (refused == null || !refused.jwt().equals(inside.get().jwt()));
    return stays ? new byte[0] : held;
  }

  private static String name(ApnsKey key) {
    return "apns-token:" + key.teamId() + ":" + key.keyId() + ":" + key.fingerprint();
  }

  private static String renewals(ApnsKey key) {
    return "apns-team:" + key.teamId() + ":renewals";
  }

  private static String waiting(ApnsKey key) {
    return "apns-team:" + key.teamId() + ":waiting";
  }

  private byte[] seal(ApnsKey key, ProviderToken token) {
    String text = token.issuedAt().getEpochSecond() + " " + token.jwt();
    return vault.encrypt(CLUSTER, "apns", name(key), text.getBytes(StandardCharsets.US_ASCII));
  }

  private Optional<ProviderToken> open(ApnsKey key, byte[] sealed) {
    try {
      String text =
          new String(vault.decrypt(CLUSTER, "apns", name(key), sealed), StandardCharsets.US_ASCII);
      int space = text.indexOf(' ');
      return Optional.of(
          new ProviderToken(
              text.substring(space + 1),
              Instant.ofEpochSecond(Long.parseLong(text.substring(0, space)))));
    } catch (CredentialUnreadable | IllegalArgumentException | IndexOutOfBoundsException e) {
      LOG.warn("event=shared_token_unreadable keyId={} reason=\"{}\"", key.keyId(), e.getMessage());
      return Optional.empty();
    }
  }

  /// Runs on a thread of its own, because connecting to a black hole takes longer than the
  /// deadline.
  private <T> Optional<T> asked(
      Function<StatefulRedisConnection<String, byte[]>, @Nullable T> question) {
    FutureTask<@Nullable T> task = new FutureTask<>(() -> question.apply(connected()));
    Duration within = connection == null ? FIRST_DEADLINE : DEADLINE;
    Thread.ofVirtual().name("shared-token").start(task);
    try {
      return Optional.ofNullable(task.get(within.toMillis(), TimeUnit.MILLISECONDS));
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("event=token_not_shared reason=\"{}\"", e.toString());
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private StatefulRedisConnection<String, byte[]> connected() {
    connecting.lock();
    try {
      StatefulRedisConnection<String, byte[]> open = connection;
      if (open == null) {
        open = client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE));
        connection = open;
      }
      return open;
    } finally {
      connecting.unlock();
    }
  }

  @Override
  public void close() {
    StatefulRedisConnection<String, byte[]> open = connection;
    if (open != null) {
      open.close();
    }
  }
}
