package io.pushplanet.common.session;

import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.Script;
import java.time.Duration;
import java.time.InstantSource;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// For each deleted device, the end of its last password, in Redis: a password with this end or an
/// earlier one is refused, although its signature is valid. A device that registers again gets a
/// password with a later end. Redis has a copy of rows in MySQL, from which a dispatcher restores
/// what Redis may have lost.
///
/// Thread-safe; calls block at most [RedisLink#DEADLINE] and throw [RedisUnavailable]
/// past it.
public final class Denials {
  private static final String DENIED = "denied:";

  private static final String MEMORY = DENIED + "memory";
  private static final String RUN_ID = "run_id:";

  /// Added to the time that a denial is kept, because each node checks a password's end by its own
  /// clock.
  public static final Duration CLOCKS_DIFFER = Duration.ofHours(1);

  /// Lua for scripts that let devices in, after [SessionDirectory#FUNCTIONS]: `denied(device,
  /// ends)` tells whether the password of `app/device` that ends in this second of the epoch is
  /// denied.
  public static final String FUNCTIONS =
      """
      local function denied(device, ends)
        local last = tonumber(text('denied:' .. device) or '')
        return last and last >= tonumber(ends)
      end
      """;

  /// ARGV: the device, the end of its last password in epoch seconds, the number of seconds to keep
  /// that, and whether to remove its owner in any case.
  ///
  /// The script ends the device's session: it notifies the session's node and removes the stored
  /// session. Removing the owner as well is the safety net for a lost notice: the node announces
  /// the session at its next comparison, and is refused. Redis undoes nothing when a script fails
  /// half-way, so the write that marks the denial as complete comes last.
  private static final Script DENY =
      Script.of(
          SessionDirectory.FUNCTIONS
              + FUNCTIONS
              + """
              local device, ends = ARGV[1], ARGV[2]
              if denied(device, ends) then return {} end
              local epoch, node = string.match(text('session:' .. device) or '', '^(%d+)|(.+)$')
              local heard = 0
              if node then
                heard = redis.call('PUBLISH', 'takeover:' .. node, 'denied|' .. epoch .. '|' .. ends .. '|' .. device)
              end
              redis.call('DEL', 'mqtt-session:' .. device)
              if heard == 0 or ARGV[4] == 'forget' then redis.call('DEL', 'session:' .. device) end
              redis.call('SET', 'denied:' .. device, ends, 'EX', ARGV[3])
              return {}
              """);

  private static final String[] NO_KEYS = {};

  private final RedisLink redis;
  private final InstantSource clock;

  public Denials(RedisLink redis, InstantSource clock) {
    this.redis = redis;
    this.clock = clock;
  }

  /// Identifies this Redis and its data, in at most 100 ASCII letters. The text changes after a
  /// restart, a replacement, and a loss of data: then the denials written before may be lost.
  public String memory() {
    String server = redis.ask(commands -> commands.info("server"));
    String data = redis.<@Nullable String>ask(commands -> commands.get(MEMORY));
    if (data == null) {
      redis.ask(commands -> commands.setnx(MEMORY, UUID.randomUUID().toString()));
      data = redis.<@Nullable String>ask(commands -> commands.get(MEMORY));
    }
    return runId(server) + ' ' + data;
  }

  private static String runId(String server) {
    return server
        .lines()
        .filter(line -> line.startsWith(RUN_ID))
        .map(line -> line.substring(RUN_ID.length()).strip())
        .findFirst()
        .orElse("");
  }

  /// Denies the passwords of a device that end in this second of the epoch or sooner, and ends a
  /// session that was opened with one. Idempotent.
  public void deny(DeviceKey device, long ends) {
    tell(device, ends, "forget");
  }

  /// Restores a denial that Redis may have lost. Where the owner's node receives the notice, the
  /// owner stays: it may be a later registration of the device, and after removing the owners of a
  /// whole fleet, no device would be found until the nodes had announced all of them again.
  public void remind(DeviceKey device, long ends) {
    tell(device, ends, "");
  }

  private void tell(DeviceKey device, long ends, String owner) {
    long seconds = ends - clock.instant().getEpochSecond() + CLOCKS_DIFFER.toSeconds();
    if (seconds > 0) {
      redis.run(DENY, NO_KEYS, device.text(), Long.toString(ends), Long.toString(seconds), owner);
    }
  }
}
