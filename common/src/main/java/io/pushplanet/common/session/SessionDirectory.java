package io.pushplanet.common.session;

import io.pushplanet.common.node.LeaseReader;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.SharedReads;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Which node holds which device, in Redis. Its data can be lost at any time: the nodes announce
/// their sessions again.
///
/// Epochs always rise, also after Redis has lost its data, because a new epoch is never lower than
/// the clock's milliseconds. Every call has a deadline ([RedisLink#DEADLINE]) and throws
/// [RedisUnavailable] past it. Thread-safe; calls block.
public final class SessionDirectory {
  /// How long a node counts as alive after its last heartbeat.
  public static final Duration LEASE = Duration.ofSeconds(15);

  private static final String SESSION = "session:";
  private static final String NODES = "nodes";
  private static final Duration FORGOTTEN_AFTER = Duration.ofDays(1);

  /// Lua functions for scripts that claim, announce or release devices, so that all scripts follow
  /// the same rules; `key` is [#key].
  ///
  /// - `claim(key, node, now in ms)` gives the device to the node, notifies the former owner's
  ///   node, and returns the new owner, the former value (an empty string for none), and whether
  ///   the former node received the notice, which a dead node does not;
  /// - `announce(key, node, epoch)` stores a session that the node already owns, and returns the
  ///   value that is stored afterwards; it notifies a former owner with a lower epoch;
  /// - `release(key, node, epoch)` removes the session if it is this one or an older one of the
  ///   same node: the node may never have been told that a later session followed there;
  /// - `text(key)` is the stored text; a value of another type counts as absent, and is
  ///   overwritten.
  public static final String FUNCTIONS =
      """
      local function text(key)
        local held = redis.pcall('GET', key)
        return type(held) == 'string' and held
      end
      local function tell(held, owner, node, key)
        local former = held and string.match(held, '^%d+|(.+)$')
        return former and former ~= node
          and redis.call('PUBLISH', 'takeover:' .. former, owner .. '|' .. string.sub(key, 9)) > 0
      end
      local function claim(key, node, now)
        local held = text(key)
        local epoch = tonumber(now)
        local before = held and tonumber(string.match(held, '^(%d+)|'))
        if before and before >= epoch then epoch = before + 1 end
        local owner = string.format('%.0f', epoch) .. '|' .. node
        redis.call('SET', key, owner)
        return owner, held or '', tell(held, owner, node, key)
      end
      local function announce(key, node, epoch)
        local held = text(key)
        local before = held and tonumber(string.match(held, '^(%d+)|'))
        if before and before >= tonumber(epoch) then return held end
        local owner = epoch .. '|' .. node
        redis.call('SET', key, owner)
        tell(held, owner, node, key)
        return owner
      end
      local function release(key, node, epoch)
        local held, owner = string.match(text(key) or '', '^(%d+)|(.+)$')
        if owner == node and tonumber(held) <= tonumber(epoch) then redis.call('DEL', key) end
      end
      """;

  private final RedisLink redis;
  private final SharedReads reads;
  private final LeaseReader leases = new LeaseReader();
  private final Clock clock;

  /// Calls throw [RedisUnavailable] until the first connection to Redis.
  public SessionDirectory(RedisLink redis, Clock clock) {
    this.redis = redis;
    this.reads = new SharedReads(redis);
    this.clock = clock;
  }

  public Optional<SessionOwner> owner(DeviceKey device) {
    return Optional.ofNullable(owners(List.of(device)).get(device));
  }

  /// The owners of these devices, read in one round trip that other callers share. Devices without
  /// a session are absent.
  public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
    if (devices.isEmpty()) {
      return Map.of();
    }
    List<DeviceKey> order = List.copyOf(devices);
    Map<DeviceKey, SessionOwner> owners = HashMap.newHashMap(order.size());
    List<@Nullable String> values =
        reads.values(order.stream().map(device -> SESSION + device.text()).toList());
    for (int i = 0; i < order.size(); i++) {
      DeviceKey device = order.get(i);
      String held = values.get(i);
      if (held != null) {
        parse(held).ifPresent(owner -> owners.put(device, owner));
      }
    }
    return owners;
  }

  /// The node is alive for another [#LEASE] after the lease's `at`.
  ///
  /// @return whether the directory knew the node. If not, the directory has lost its data
  public boolean heartbeat(NodeLease lease) {
    String text = new String(WireForm.write(lease), StandardCharsets.UTF_8);
    return !redis.ask(commands -> commands.hset(NODES, lease.node().value(), text));
  }

  public void leave(NodeId node) {
    redis.ask(commands -> commands.hdel(NODES, node.value()));
  }

  /// Every node with a valid lease. This is one read of one small hash, no matter how much else
  /// Redis holds. Leases that ended long ago are removed on the way.
  public List<NodeLease> nodes() {
    Instant now = clock.instant();
    List<NodeLease> alive = new ArrayList<>();
    leases
        .read(redis.ask(commands -> commands.hgetall(NODES)))
        .forEach((name, lease) -> {
          if (lease.at().plus(LEASE).isAfter(now)) {
            alive.add(lease);
          } else if (lease.at().plus(FORGOTTEN_AFTER).isBefore(now)) {
            redis.ask(commands -> commands.hdel(NODES, name));
          }
        });
    return List.copyOf(alive);
  }

  /// The Redis key of the device's owner, `epoch|node`, for scripts that change data only on behalf
  /// of the owner.
  public static String key(DeviceKey device) {
    return SESSION + device.text();
  }

  /// Parses the value under [#key]; empty when the value is empty or has another form.
  public static Optional<SessionOwner> parse(String held) {
    int bar = held.indexOf('|');
    if (bar <= 0) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new SessionOwner(new NodeId(held.substring(bar + 1)), Long.parseLong(held, 0, bar, 10)));
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }
}
