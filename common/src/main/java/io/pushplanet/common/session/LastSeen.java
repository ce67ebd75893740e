package io.pushplanet.common.session;

/// When devices were last heard of, on its way from Redis to their rows in MySQL.
public final class LastSeen {
  /// A hash that dispatchers empty: `app/device`, and its milliseconds, app version, locale and time zone, a line each; what is not told is
  /// empty.
  public static final String PENDING = "sessions:pending";

  /// Lua for scripts that let devices in: `seen(device, now in ms)` tells that `app/device` is here, the first time in each day of UTC.
  ///
  /// Which were told that day stands in 2^26 bits (8 MB), so of a million devices one in a hundred finds its bit taken, and is told the
  /// next day, by another bit. What Redis refuses of it changes nothing for the device.
  public static final String FUNCTIONS =
      """
      local function seen(device, now)
        local day = string.format('%.0f', math.floor(tonumber(now) / 86400000))
        local place = tonumber(string.sub(redis.sha1hex(day .. device), 1, 8), 16) % 67108864
        if redis.pcall('SETBIT', 'seen:' .. day, place, 1) == 0 then
          redis.pcall('EXPIRE', 'seen:' .. day, 172800)
          redis.pcall('HSETNX', 'sessions:pending', device, now .. '\\n\\n\\n')
        end
      end
      """;

  private LastSeen() {}
}
