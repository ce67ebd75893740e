package io.pushplanet.cm.directory;

import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.common.session.Denials;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.LastSeen;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.Script;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The directory in Redis. If Redis loses its data, the remembered subscriptions are lost: a device
/// is then told "session present = 0" and subscribes again, as the protocol asks. No message is
/// lost, because messages wait in the inbox. Thread-safe; a call blocks for at most two seconds.
final class RedisDirectory implements Directory {
  /// Stands for the owner of a newer session that has ended.
  private static final NodeId NOBODY = new NodeId("nobody");

  private static final String[] NO_KEYS = {};
  private static final int ROOM_OF_EACH = 96;
  private static final char FAILED = '!';
  private static final char DENIED = '-';
  private static final char HEARD = '1';
  private static final char BETWEEN = '\n';

  /// Lua: the epoch under which a session was written.
  private static final String WRITTEN =
      """
      local function written(held) return held and tonumber(string.match(held, '^%d+,%d+,(%d+)$')) end
      """;

  /// KEYS two for each session, as below. ARGV this node, the owner to answer for a newer session
  /// that has ended, then the epoch and the end of the password of each session. A remembered
  /// session that is older than the announced one is deleted: its device was not told of it.
  private static final Script ANNOUNCE =
      Script.of(
          SessionDirectory.FUNCTIONS
              + Denials.FUNCTIONS
              + WRITTEN
              + """
              local owners = {}
              for i = 1, #KEYS / 2 do
                local key, kept, epoch, ends = KEYS[2 * i - 1], KEYS[2 * i], ARGV[2 * i + 1], ARGV[2 * i + 2]
                local by = written(text(kept))
                if denied(string.sub(key, 9), ends) then
                  owners[i] = '-'
                elseif by and by > tonumber(epoch) then
                  local owner = text(key)
                  local held = owner and tonumber(string.match(owner, '^%d+'))
                  owners[i] = held and held >= by and owner or string.format('%.0f', by) .. '|' .. ARGV[2]
                else
                  owners[i] = announce(key, ARGV[1], epoch)
                  if by and by < tonumber(epoch) and owners[i] == epoch .. '|' .. ARGV[1] then redis.call('DEL', kept) end
                end
              end
              return owners
              """);

  /// ARGV node, now in ms, longest life of a session in ms, and the commands, a line for each: its
  /// name, the writer's epoch, the end of the password of the writer's session, the device, and an
  /// argument. Answers with a text for each. A device has two keys: the owner, and the subscription
  /// (`qos,identifier,epoch`). A command that fails (a key holds something else) fails alone.
  ///
  /// All commands are one argument, because each argument costs the client time. Only a cluster
  /// needs the keys' names beforehand, and there no script can use the keys of many devices anyway.
  ///
  /// A claim with a denied password changes nothing. A session that came by a denied password while
  /// its node could not ask Redis changes nothing but its own owner's entry: its epoch was made up
  /// by the node, and may be above that of the device as it was registered anew.
  ///
  /// Each claim that was heard is answered to the node that made it, under the epoch before the
  /// claim, once the device is released. A node that lost a session before it heard of the claim
  /// describes the session to the present owner if Redis remembers nothing, so that this owner need
  /// not guess whether there was a session.
  ///
  /// The epoch of a claim is above that of the session that it resumes, even if that session ended
  /// on a node whose clock is ahead.
  ///
  /// "No subscription" is remembered only from the end of the owner's connection to the next
  /// connection: if Redis loses a SUBSCRIBE, the device must not be told "session present". The end
  /// of a connection does not restore a session that Redis has lost, because the connection may be
  /// an old one, whose window of unacknowledged packets would be taken for the last one.
  private static final Script EXECUTE =
      Script.of(
          SessionDirectory.FUNCTIONS
              + Denials.FUNCTIONS
              + LastSeen.FUNCTIONS
              + WRITTEN
              + """
              local node, now, longest = ARGV[1], ARGV[2], ARGV[3]
              local function not_before(kept)
                local by = written(text(kept))
                return by and by >= tonumber(now) and string.format('%.0f', by + 1) or now
              end
              local function take_up(kept, wish, epoch)
                local held = text(kept)
                if not held then return '' end
                if wish == 'resume' and string.sub(held, 1, 1) ~= '3' then
                  redis.call('SET', kept, string.match(held, '^%d+,%d+') .. ',' .. epoch, 'PX', longest)
                  return held
                end
                redis.call('DEL', kept)
                return wish == 'forget' and '' or held
              end
              local function may_write(key, kept, epoch)
                local owner = tonumber(string.match(text(key) or '', '^%d+'))
                if owner and owner > tonumber(epoch) then return false end
                local by = written(text(kept))
                return not by or by <= tonumber(epoch)
              end
              local function outlive(kept, millis, left, epoch, ours)
                local bare = string.sub(left, 1, 1) == '3'
                if millis == '0' or bare and not ours then redis.call('DEL', kept)
                elseif ours and (bare or text(kept)) then redis.call('SET', kept, left .. ',' .. epoch, 'PX', millis)
                else redis.call('PEXPIRE', kept, millis) end
              end
              local function leave(device, epoch, heir, session)
                redis.call('PUBLISH', 'takeover:' .. heir, 'left|' .. epoch .. '|' .. session .. '|' .. device)
              end
              local function bequeath(device, key, kept, millis, left, epoch)
                local newer, heir = string.match(text(key) or '', '^(%d+)|(.+)$')
                if heir and heir ~= node and tonumber(newer) > tonumber(epoch) and not text(kept) then
                  leave(device, epoch, heir, millis == '0' and '' or left)
                end
              end
              local function carry_out(device, what, epoch, ends, more)
                local key, kept = 'session:' .. device, 'mqtt-session:' .. device
                if what == 'letgo' then
                  leave(device, epoch, string.match(more, '^(%S+) (.*)$'))
                  return ''
                end
                if what == 'claim' then
                  if denied(device, ends) then return '-' end
                  local owner, former, heard = claim(key, node, not_before(kept))
                  seen(device, now)
                  local fine, held = pcall(take_up, kept, more, string.match(owner, '^%d+'))
                  return owner .. '\\n' .. former .. '\\n' .. (heard and '1' or '0') .. (fine and held or '')
                end
                local ours = text(key) == epoch .. '|' .. node
                if what == 'release' or what == 'end' then release(key, node, epoch) end
                if what ~= 'release' and not ours and denied(device, ends) then return '' end
                local millis, left = string.match(more, '^(%d+) (.+)$')
                if what == 'end' and not ours then bequeath(device, key, kept, millis, left, epoch) end
                if what == 'release' or not may_write(key, kept, epoch) then return '' end
                if what == 'remember' then redis.call('SET', kept, more .. ',' .. epoch, 'PX', longest)
                elseif what == 'end' then outlive(kept, millis, left, epoch, ours)
                else redis.call('DEL', kept) end
                return ''
              end
              local answers = {}
              for what, epoch, ends, device, more in string.gmatch(ARGV[4], '(%l+) (%d+) (%d+) (%S+) ([^\\n]*)\\n') do
                local fine, answer = pcall(carry_out, device, what, epoch, ends, more)
                if not fine then answer = '!' .. (type(answer) == 'table' and answer.err or tostring(answer)) end
                answers[#answers + 1] = answer
              end
              return answers
              """);

  /// ARGV device and end of the password of each; answers with a text for each.
  private static final Script ASK_DENIED =
      Script.of(
          SessionDirectory.FUNCTIONS
              + Denials.FUNCTIONS
              + """
              local answers = {}
              for i = 1, #ARGV, 2 do answers[#answers + 1] = denied(ARGV[i], ARGV[i + 1]) and '-' or '' end
              return answers
              """);

  private final RedisLink redis;
  private final SessionDirectory directory;
  private final NodeId node;
  private final InstantSource clock;

  RedisDirectory(RedisLink redis, SessionDirectory directory, NodeId node, InstantSource clock) {
    this.redis = redis;
    this.directory = directory;
    this.node = node;
    this.clock = clock;
  }

  @Override
  public List<Answer> execute(List<Command> commands) {
    var lines = new StringBuilder(ROOM_OF_EACH * commands.size());
    for (Command command : commands) {
      write(command, lines);
    }
    List<String> told =
        redis.run(
            EXECUTE,
            NO_KEYS,
            node.value(),
            Long.toString(clock.millis()),
            Long.toString(SessionTerms.LONGEST_EXPIRY.toMillis()),
            lines.toString());
    var answers = new ArrayList<Answer>(told.size());
    for (String text : told) {
      answers.add(answer(text));
    }
    return answers;
  }

  private static void write(Command command, StringBuilder into) {
    DeviceKey device = command.device();
    switch (command) {
      case Command.Claim(_, FormerSession former, long ends) ->
          put(into, "claim", 0, ends, device, word(former));
      case Command.Remember(_, long epoch, Subscription subscription, long ends) ->
          put(into, "remember", epoch, ends, device, SessionText.of(subscription));
      case Command.Forget(_, long epoch, long ends) -> put(into, "forget", epoch, ends, device, "");
      case Command.Release(_, long epoch) -> put(into, "release", epoch, 0, device, "");
      case Command.ConfirmRelease(_, SessionOwner claimant, Optional<RememberedSession> session) ->
          put(
              into,
              "letgo",
              claimant.epoch() - 1,
              0,
              device,
              claimant.node().value() + " " + SessionText.of(session));
      case Command.End(_, long epoch, long seconds, Subscription left, long ends) -> {
        long millis =
            Math.min(
                Duration.ofSeconds(seconds).toMillis(), SessionTerms.LONGEST_EXPIRY.toMillis());
        put(into, "end", epoch, ends, device, millis + " " + SessionText.of(left));
      }
    }
  }

  private static String word(FormerSession former) {
    return switch (former) {
      case FORGET -> "forget";
      case RESUME -> "resume";
      case RESUME_ONCE -> "once";
    };
  }

  /// Only the last part may contain a blank, and none a line feed: ids consist of letters, digits
  /// and a few signs.
  private static void put(
      StringBuilder into, String what, long epoch, long ends, DeviceKey device, String more) {
    into.append(what).append(' ').append(epoch).append(' ').append(ends).append(' ');
    into.append(device.app().value()).append('/').append(device.device().value());
    into.append(' ').append(more).append('\n');
  }

  private static Answer answer(String line) {
    if (line.isEmpty()) {
      return new Answer.Done();
    }
    if (line.charAt(0) == FAILED) {
      return new Answer.Failed(line.substring(1));
    }
    if (line.charAt(0) == DENIED) {
      return new Answer.Denied();
    }
    int first = line.indexOf(BETWEEN);
    int second = line.indexOf(BETWEEN, first + 1);
    return new Answer.Claimed(
        Long.parseLong(line, 0, line.indexOf('|'), 10),
        SessionDirectory.parse(line.substring(first + 1, second)),
        line.charAt(second + 1) == HEARD,
        SessionText.read(line.substring(second + 2)));
  }

  @Override
  public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
    return directory.owners(devices);
  }

  @Override
  public Announcement announce(Map<DeviceKey, Announced> sessions) {
    if (sessions.isEmpty()) {
      return new Announcement(Map.of(), Set.of());
    }
    var each = List.copyOf(sessions.entrySet());
    var keys = new String[2 * each.size()];
    var arguments = new String[2 + 2 * each.size()];
    arguments[0] = node.value();
    arguments[1] = NOBODY.value();
    for (int index = 0; index < each.size(); index++) {
      keys[2 * index] = SessionDirectory.key(each.get(index).getKey());
      keys[2 * index + 1] = kept(each.get(index).getKey());
      arguments[2 + 2 * index] = Long.toString(each.get(index).getValue().epoch());
      arguments[3 + 2 * index] = Long.toString(each.get(index).getValue().passwordEnds());
    }
    List<String> answers = redis.run(ANNOUNCE, keys, arguments);
    Map<DeviceKey, SessionOwner> owners = HashMap.newHashMap(each.size());
    Set<DeviceKey> denied = new HashSet<>();
    for (int index = 0; index < each.size(); index++) {
      DeviceKey device = each.get(index).getKey();
      String answer = answers.get(index);
      if (answer.charAt(0) == DENIED) {
        denied.add(device);
      } else {
        SessionDirectory.parse(answer).ifPresent(owner -> owners.put(device, owner));
      }
    }
    return new Announcement(owners, denied);
  }

  @Override
  public Set<DeviceKey> denied(Map<DeviceKey, Long> passwordEnds) {
    var each = List.copyOf(passwordEnds.entrySet());
    var arguments = new String[2 * each.size()];
    for (int index = 0; index < each.size(); index++) {
      arguments[2 * index] = text(each.get(index).getKey());
      arguments[2 * index + 1] = Long.toString(each.get(index).getValue());
    }
    List<String> answers = redis.run(ASK_DENIED, NO_KEYS, arguments);
    Set<DeviceKey> denied = new HashSet<>();
    for (int index = 0; index < each.size(); index++) {
      if (!answers.get(index).isEmpty()) {
        denied.add(each.get(index).getKey());
      }
    }
    return denied;
  }

  private static String kept(DeviceKey device) {
    return "mqtt-session:" + text(device);
  }

  private static String text(DeviceKey device) {
    return device.app().value() + "/" + device.device().value();
  }
}
