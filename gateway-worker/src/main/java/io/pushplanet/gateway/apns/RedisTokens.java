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
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
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

  /// KEYS[1] token; ARGV offered, life in ms, refused or "". The first worker's offer stands until
  /// its life is over.
  private static final String AGREE =
      """
      local held = redis.call('GET', KEYS[1])
      if held and held ~= ARGV[3] then return held end
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
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
    return asked(
            redis -> {
              byte[] replaceable = replaceable(key, redis.sync().get(name(key)), refused);
              byte[] offered = seal(key, offer);
              byte[] millis = Long.toString(life.toMillis()).getBytes(StandardCharsets.US_ASCII);
              return redis
                  .sync()
                  .<byte[]>eval(
                      AGREE,
                      ScriptOutputType.VALUE,
                      new String[] {name(key)},
                      offered,
                      millis,
                      replaceable);
            })
        .flatMap(sealed -> open(key, sealed));
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
