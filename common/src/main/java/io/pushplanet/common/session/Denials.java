package io.pushplanet.common.session;

import java.time.Duration;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/// Of deleted devices the end of the last password that was given to them, in Redis: passwords that end then, or sooner, let nobody
/// in, although they are signed. A device that is registered anew is given one that ends later. What Redis loses holds again until it
/// ends.
///
/// Thread-safe; calls block at most [SessionDirectory#DEADLINE] and throw [DirectoryUnavailable] past it.
public final class Denials {
  private static final String DENIED = "denied:";

  /// Nodes judge by their own clocks whether a password has ended.
  private static final Duration CLOCKS_DIFFER = Duration.ofHours(1);

  /// Lua for scripts that let devices in, behind [SessionDirectory#FUNCTIONS]: `denied(device, ends)` is whether the password of
  /// `app/device` that ends in that second of the epoch lets nobody in.
  public static final String FUNCTIONS =
      """
      local function denied(device, ends)
        local last = tonumber(text('denied:' .. device) or '')
        return last and last >= tonumber(ends)
      end
      """;

  /// ARGV the device, the end of its last password in seconds, and for how many seconds that is remembered.
  ///
  /// Its session is over: the node that has it is told, and nothing of it is remembered. That also its owner is forgotten is the net
  /// below the notice: who has not heard it announces the session when it is compared, and is refused.
  private static final Script DENY =
      Script.of(
          SessionDirectory.FUNCTIONS
              + FUNCTIONS
              + """
              local device, ends = ARGV[1], ARGV[2]
              if denied(device, ends) then return {} end
              redis.call('SET', 'denied:' .. device, ends, 'EX', ARGV[3])
              local epoch, node = string.match(text('session:' .. device) or '', '^(%d+)|(.+)$')
              redis.call('DEL', 'session:' .. device, 'mqtt-session:' .. device)
              if node then
                redis.call('PUBLISH', 'takeover:' .. node, 'denied|' .. epoch .. '|' .. ends .. '|' .. device)
              end
              return {}
              """);

  private static final String[] NO_KEYS = {};

  private final RedisLink redis;
  private final InstantSource clock;

  public Denials(RedisLink redis, InstantSource clock) {
    this.redis = redis;
    this.clock = clock;
  }

  /// The second of the epoch up to which passwords of this device are denied; 0 for none.
  public long until(DeviceKey device) {
    String held = redis.<@Nullable String>ask(commands -> commands.get(DENIED + device.text()));
    return held == null ? 0 : Long.parseLong(held);
  }

  /// Denies the passwords of a device that end in this second of the epoch, or sooner, and ends the session of whoever came by one. Told
  /// again it changes nothing.
  public void deny(DeviceKey device, long ends) {
    long seconds = ends - clock.instant().getEpochSecond() + CLOCKS_DIFFER.toSeconds();
    if (seconds > 0) {
      redis.run(DENY, NO_KEYS, device.text(), Long.toString(ends), Long.toString(seconds));
    }
  }
}
