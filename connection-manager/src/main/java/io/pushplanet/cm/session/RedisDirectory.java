package io.pushplanet.cm.session;

import io.lettuce.core.ScriptOutputType;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionDirectory.Claimed;
import io.pushplanet.common.session.SessionOwner;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The directory in Redis. Losing Redis loses the remembered subscriptions: a device is then told "session present = 0" and
/// subscribes again, as the protocol wants; no message is lost, they are in the inbox. Thread-safe; a call blocks at most
/// two seconds.
public final class RedisDirectory implements Directory {
  /// While a device is connected its session does not age; the longest that a session may outlive its connection.
  private static final Duration LONGEST = Duration.ofDays(30);

  /// KEYS[1] the subscription (`qos,identifier,epoch`), KEYS[2] the owner; ARGV[1] the writer's epoch. Ends the script
  /// where somebody newer has the device or has written.
  private static final String UNLESS_NEWER =
      """
      local owner = redis.call('GET', KEYS[2])
      if owner and tonumber(string.match(owner, '^%d+')) > tonumber(ARGV[1]) then return false end
      local held = redis.call('GET', KEYS[1])
      local written = held and string.match(held, '^%d+,%d+,(%d+)$')
      if written and tonumber(written) > tonumber(ARGV[1]) then return false end
      """;

  /// ARGV[2] ms to live.
  private static final String RESUME =
      UNLESS_NEWER
          + """
          if not held then return false end
          redis.call('SET', KEYS[1], string.match(held, '^%d+,%d+') .. ',' .. ARGV[1], 'PX', ARGV[2])
          return held
          """;

  /// ARGV[2] ms to live, ARGV[3] the subscription.
  private static final String REMEMBER =
      UNLESS_NEWER
          + "redis.call('SET', KEYS[1], ARGV[3] .. ',' .. ARGV[1], 'PX', ARGV[2]) return 'done'";

  /// ARGV[2] ms to live.
  private static final String AGE =
      UNLESS_NEWER + "redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 'done'";

  private static final String FORGET = UNLESS_NEWER + "redis.call('DEL', KEYS[1]) return 'done'";

  private final RedisLink redis;
  private final SessionDirectory directory;
  private final NodeId node;

  public RedisDirectory(RedisLink redis, SessionDirectory directory, NodeId node) {
    this.redis = redis;
    this.directory = directory;
    this.node = node;
  }

  @Override
  public Claimed claim(DeviceKey device) {
    return directory.claim(device, node);
  }

  @Override
  public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
    return directory.owners(devices);
  }

  @Override
  public Map<DeviceKey, SessionOwner> announce(Map<DeviceKey, Long> epochs) {
    return directory.announce(epochs, node);
  }

  @Override
  public void release(DeviceKey device, long epoch) {
    directory.release(device, node, epoch);
  }

  @Override
  public Optional<Remembered> resume(DeviceKey device, long epoch) {
    return Optional.ofNullable(run(RESUME, device, epoch, LONGEST.toMillis()))
        .map(Subscription::remembered);
  }

  @Override
  public void remember(DeviceKey device, long epoch, Subscription subscription) {
    run(REMEMBER, device, epoch, LONGEST.toMillis(), subscription.text());
  }

  @Override
  public void age(DeviceKey device, long epoch, long seconds) {
    run(AGE, device, epoch, Math.min(Duration.ofSeconds(seconds).toMillis(), LONGEST.toMillis()));
  }

  @Override
  public void forget(DeviceKey device, long epoch) {
    run(FORGET, device, epoch, 0);
  }

  private @Nullable String run(
      String script, DeviceKey device, long epoch, long millis, String... more) {
    var arguments = new String[2 + more.length];
    arguments[0] = Long.toString(epoch);
    arguments[1] = Long.toString(millis);
    System.arraycopy(more, 0, arguments, 2, more.length);
    var keys =
        new String[] {
          "mqtt-session:" + device.app().value() + "/" + device.device().value(),
          SessionDirectory.key(device)
        };
    return redis.ask(commands -> commands.eval(script, ScriptOutputType.VALUE, keys, arguments));
  }
}
