package io.pushplanet.common.session;

/// The time of each device's last contact, on its way from Redis to the device's row in MySQL.
public final class LastSeen {
  /// A hash that dispatchers empty: `app/device`, and its milliseconds, app version, locale and
  /// time zone, one per line; an unknown value is an empty line. Three more lines may tell the
  /// milliseconds at which each value was given; without them all are as old as the entry.
  public static final String PENDING = "sessions:pending";

  /// Lua for scripts that let devices in: `seen(device, now in ms)` records the first contact of
  /// `app/device` on each UTC day.
  ///
  /// 2^26 bits (8 MB) mark the devices already recorded that day. So of a million devices one in a
  /// hundred finds its bit already set, and is recorded the next day, under another bit. An error
  /// of Redis in here does not affect the device.
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
