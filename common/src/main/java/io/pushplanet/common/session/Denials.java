package io.pushplanet.common.session;

import java.time.Duration;
import java.time.InstantSource;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Of deleted devices the end of the last password that was given to them, in Redis: passwords that end then, or sooner, let nobody
/// in, although they are signed. A device that is registered anew is given one that ends later. A copy of rows in MySQL, from which a
/// dispatcher tells it again what it may have lost.
///
/// Thread-safe; calls block at most [SessionDirectory#DEADLINE] and throw [DirectoryUnavailable] past it.
public final class Denials {
  private static final String DENIED = "denied:";

  private static final String MEMORY = DENIED + "memory";
  private static final String RUN_ID = "run_id:";

  /// Nodes judge by their own clocks whether a password has ended: for so much longer it is remembered.
  public static final Duration CLOCKS_DIFFER = Duration.ofHours(1);

  /// Lua for scripts that let devices in, behind [SessionDirectory#FUNCTIONS]: `denied(device, ends)` is whether the password of
  /// `app/device` that ends in that second of the epoch lets nobody in.
  public static final String FUNCTIONS =
      """
      local function denied(device, ends)
        local last = tonumber(text('denied:' .. device) or '')
        return last and last >= tonumber(ends)
      end
      """;

  /// ARGV the device, the end of its last password in seconds, for how many seconds that is remembered, and whether its owner is forgotten
  /// in any case.
  ///
  /// Its session is over: the node that has it is told, and nothing of it is remembered. That also its owner is forgotten is the net
  /// below the notice: who has not heard it announces the session when it is compared, and is refused. Redis takes nothing back of a
  /// script that is refused half-way: what says that all is done comes last.
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

  /// What remembers: another text, of at most 100 ASCII letters, after Redis was restarted or replaced by another, and after it lost its
  /// data. What was told to the one before may be forgotten.
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

  /// Denies the passwords of a device that end in this second of the epoch, or sooner, and ends the session of whoever came by one. Told
  /// again it changes nothing.
  public void deny(DeviceKey device, long ends) {
    tell(device, ends, "forget");
  }

  /// Denies again what Redis may have lost. Where the owner's node hears it the owner stays: it may be whoever registered the device since,
  /// and of a whole fleet of them nobody would be found until all were announced again.
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
