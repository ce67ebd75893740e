package io.pushplanet.cm.directory;

import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.Script;
import io.pushplanet.common.session.Denials;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.LastSeen;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

  private static final Script ANNOUNCE =
      Script.of(SessionDirectory.FUNCTIONS + Denials.FUNCTIONS + lua("written") + lua("announce"));
  private static final Script EXECUTE =
      Script.of(
          SessionDirectory.FUNCTIONS
              + Denials.FUNCTIONS
              + LastSeen.FUNCTIONS
              + lua("written")
              + lua("execute"));
  private static final Script ASK_DENIED =
      Script.of(SessionDirectory.FUNCTIONS + Denials.FUNCTIONS + lua("denied"));

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

  /// Reads a script that lies beside this class and explains itself.
  private static String lua(String name) {
    try (InputStream file = RedisDirectory.class.getResourceAsStream(name + ".lua")) {
      return new String(Objects.requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
              "confirm",
              claimant.epoch() - 1,
              0,
              device,
              claimant.node().value()
                  + " "
                  + SessionText.of(session)
                  + behind(session.map(RememberedSession::unacknowledged).orElse(List.of())));
      case Command.End(
              _,
              long epoch,
              long seconds,
              Subscription left,
              long ends,
              List<MessageId> unacknowledged) -> {
        long millis =
            Math.min(
                Duration.ofSeconds(seconds).toMillis(), SessionTerms.LONGEST_EXPIRY.toMillis());
        String more = millis + " " + SessionText.of(left) + behind(unacknowledged);
        put(into, "end", epoch, ends, device, more);
      }
    }
  }

  private static String behind(List<MessageId> unacknowledged) {
    return unacknowledged.isEmpty() ? "" : " " + SessionText.of(unacknowledged);
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
    int third = line.indexOf(BETWEEN, second + 1);
    return new Answer.Claimed(
        Long.parseLong(line, 0, line.indexOf('|'), 10),
        SessionDirectory.parse(line.substring(first + 1, second)),
        line.charAt(second + 1) == HEARD,
        third < 0
            ? SessionText.read(line.substring(second + 2))
            : SessionText.read(line.substring(second + 2, third))
                .map(held -> held.with(SessionText.readMessages(line.substring(third + 1)))));
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
