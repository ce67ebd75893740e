package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.directory.Directory.Announced;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReconciliationTest extends RegistrarScene {
  @Test
  void an_announced_session_is_not_remembered() {
    registrar.compareAll();

    registrar.remember(session);

    assertThat(directory.announced).containsExactly(Map.of(DEVICE, new Announced(EPOCH, ENDS)));
    assertThat(directory.commands).isEmpty();
  }

  /// Its release is in the directory, so nothing would remove the announced owner.
  @Test
  void a_session_that_ends_while_it_is_compared_is_not_announced() {
    directory.whileAsked = () -> table.remove(session);

    registrar.doubt(session);

    assertThat(directory.asked).containsExactly(DEVICE);
    assertThat(directory.announced).isEmpty();
  }

  @Test
  void a_packet_that_waited_in_the_socket_does_not_prove_a_session() {
    registrar.stoodStill(session.loop(), Duration.ofSeconds(30), () -> 0);
    clock.advance(Duration.ofSeconds(2));

    registrar.heard(session);
    registrar.remember(session);

    assertThat(directory.commands).isEmpty();
  }

  @Test
  void a_loop_that_stood_still_compares_only_its_own_sessions() {
    var first = new QuietClient().loop();
    var second = new QuietClient().loop();
    var here = IntStream.range(0, 1_200).mapToObj(n -> session(device("a" + n), first)).toList();
    var there = IntStream.range(0, 700).mapToObj(n -> session(device("b" + n), second)).toList();
    here.forEach(each -> directory.owned.put(each.key(), new SessionOwner(new NodeId("b"), 9)));
    var workers = new ArrayDeque<Runnable>();
    var waked = registrar(workers::add, Runnable::run);

    waked.stoodStill(first, Duration.ofSeconds(30), () -> 0);
    assertThat(here).allMatch(DeviceSession::isLost);
    waked.stoodStill(second, Duration.ofSeconds(30), () -> 0);

    assertThat(there).noneMatch(DeviceSession::isLost);
    assertThat(directory.asked)
        .as("each once")
        .doesNotHaveDuplicates()
        .hasSize(here.size() + there.size());
    assertThat(workers).as("checks of the inboxes").hasSize(2);
  }

  /// Another node claims a device that was already compared.
  @Test
  void a_loop_that_is_stopped_while_it_compares_starts_over() {
    var nanoTime = new AtomicLong();
    var loop = new QuietClient().loop();
    var all = IntStream.range(0, 1_200).mapToObj(n -> session(device("a" + n), loop)).toList();
    directory.whileAsked =
        () -> {
          boolean stopped = directory.asked.size() == 1_000;
          nanoTime.addAndGet(Duration.ofMillis(stopped ? 3_500 : 1_900).toNanos());
          if (stopped) {
            var taken = directory.asked.getFirst();
            directory.owned.put(taken, new SessionOwner(new NodeId("b"), 9));
          }
        };

    long since = registrar.stoodStill(loop, Duration.ofSeconds(30), nanoTime::get);

    assertThat(all).filteredOn(DeviceSession::isLost).hasSize(1);
    assertThat(directory.asked).as("each twice, and no oftener").hasSize(2 * all.size());
    assertThat(since).isEqualTo(nanoTime.get());
  }

  @Test
  void a_loop_that_stood_still_goes_on_when_the_directory_is_away() {
    directory.isAway = true;

    registrar.stoodStill(session.loop(), Duration.ofSeconds(30), () -> 0);

    assertThat(session.isLost()).isFalse();
    assertThat(registrar.isReachable()).isFalse();
  }

  @Test
  void a_session_is_remembered_again_once_its_device_sends_a_packet() {
    registrar.compareAll();
    clock.advance(Duration.ofMinutes(1));

    registrar.heard(session);
    registrar.release(session, 3_600, List.of());

    assertThat(directory.commands)
        .containsExactly(
            new Command.Remember(DEVICE, EPOCH, AT_ONE, ENDS),
            new Command.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  @Test
  void a_presumed_session_ends_with_its_connection() {
    registrar.compareAll();

    registrar.release(session, 3_600, List.of());

    assertThat(directory.commands).containsExactly(new Command.End(DEVICE, EPOCH, 0, AT_ONE, ENDS));
  }

  @Test
  void a_session_that_ends_during_its_announcement_is_not_remembered() {
    directory.meanwhile = () -> registrar.release(session, 3_600, List.of());

    registrar.compareAll();

    assertThat(directory.commands).containsExactly(new Command.End(DEVICE, EPOCH, 0, AT_ONE, ENDS));
  }

  @Test
  void a_device_that_connects_while_the_directory_returns_is_announced() {
    registrar.away(new RedisUnavailable("away", null));
    registrar.compareNext(registrar.pause());
    assertThat(directory.announced).containsExactly(Map.of(DEVICE, new Announced(EPOCH, ENDS)));

    var late = IntStream.range(0, 5).mapToObj(n -> device("late-" + n)).toList();
    late.forEach(this::session);
    registrar.compareNext(registrar.pause());

    assertThat(directory.announced).hasSize(2);
    assertThat(directory.announced.getLast()).containsKeys(late.toArray(DeviceKey[]::new));
  }

  /// Comparing a million sessions takes seconds in which a call may fail.
  @Test
  void the_directory_is_used_as_soon_as_it_answers() {
    var sessions = IntStream.range(0, 1_200).mapToObj(n -> session(device("a" + n))).toList();
    var reachable = new ArrayList<Boolean>();
    directory.whileAsked =
        () -> {
          reachable.add(registrar.isReachable());
          if (reachable.size() == 3) {
            throw new RedisUnavailable("one call", null);
          }
        };
    registrar.away(new RedisUnavailable("away", null));

    registrar.compareNext(registrar.pause());
    assertThat(reachable).containsExactly(false, true, true);
    assertThat(registrar.isReachable()).isFalse();
    registrar.compareNext(registrar.pause());

    assertThat(reachable.subList(3, reachable.size())).containsExactly(false, true, true, true);
    assertThat(directory.asked).containsAll(sessions.stream().map(DeviceSession::key).toList());
  }

  /// Redis keeps a session for 30 days from when it was remembered last, and a device may stay
  /// connected for longer (MQTT-4.1.0-1).
  @Test
  void the_session_of_a_connected_device_is_remembered_again_each_day() {
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));

    for (int day = 1; day <= 3; day++) {
      aDayGoesBy();

      assertThat(directory.commands)
          .hasSize(day)
          .containsOnly(new Command.Remember(DEVICE, EPOCH, AT_ONE, ENDS));
    }
  }

  @Test
  void a_session_that_has_no_subscription_or_has_ended_is_not_remembered_again() {
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));
    session.unsubscribe();
    aDayGoesBy();
    assertThat(directory.commands).isEmpty();

    session.subscribe(AT_ONE);
    session.end();
    aDayGoesBy();

    assertThat(directory.commands).isEmpty();
  }

  @Test
  void a_presumed_session_is_not_remembered_again() {
    registrar.compareAll();
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));

    aDayGoesBy();

    assertThat(directory.commands).isEmpty();
  }

  private void aDayGoesBy() {
    for (int minutes = 0; minutes < 24 * 60; minutes += 5) {
      registrar.compareNext(Duration.ofMinutes(5));
    }
  }

  @Test
  void repeated_subscribes_of_a_device_are_one_command() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    for (int time = 0; time < 5_000; time++) {
      session.unsubscribe();
      slow.remember(session);
      session.subscribe(Subscription.of(QoS.AT_MOST_ONCE, time));
      slow.remember(session);
    }
    assertThat(
            slow.claim(
                device("other"), FormerSession.FORGET, ENDS, new QuietClient().loop(), _ -> {}))
        .isTrue();

    sender.remove().run();
    session.unsubscribe();
    slow.remember(session);
    sender.remove().run();

    assertThat(directory.commands)
        .containsExactly(
            new Command.Remember(DEVICE, EPOCH, Subscription.of(QoS.AT_MOST_ONCE, 4_999), ENDS),
            new Command.Claim(device("other"), FormerSession.FORGET, ENDS),
            new Command.Forget(DEVICE, EPOCH, ENDS));
  }

  @Test
  void a_subscription_missed_during_an_outage_is_remembered_at_its_next_change() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    slow.remember(session);
    slow.away(new RedisUnavailable("away", null));
    sender.remove().run();
    slow.remember(session);
    slow.compareNext(slow.pause());
    session.prove();

    slow.remember(session);
    sender.remove().run();

    assertThat(directory.commands)
        .containsExactly(new Command.Remember(DEVICE, EPOCH, AT_ONE, ENDS));
  }

  @Test
  void a_session_whose_password_is_denied_is_ended_when_it_is_announced() {
    var other = session(device("other"));
    directory.denied.add(DEVICE);

    registrar.compareAll();

    assertThat(session.isLost()).isTrue();
    assertThat(session.terms().expirySeconds()).as("nothing is left of it").isZero();
    assertThat(other.isLost()).isFalse();
    assertThat(count("cm.session.denied")).isOne();
    assertThat(count("cm.session.fenced")).isZero();
  }

  /// A repeated denial leaves the owner's entry if the owner's node seems to receive the notice.
  @Test
  void a_missed_denial_ends_a_session_that_the_directory_knows() {
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));
    registrar.compareAll();
    assertThat(session.isDenied()).isFalse();
    directory.denied.add(DEVICE);
    registrar.compareNext(Duration.ofMinutes(5));
    assertThat(session.isDenied()).as("the directory is not asked without a reason").isFalse();

    directory.denialsAway = true;
    registrar.compareAll();
    assertThat(session.isDenied()).isFalse();
    directory.denialsAway = false;
    registrar.compareNext(Duration.ofSeconds(1));

    assertThat(session.isDenied()).isTrue();
    assertThat(directory.announced).isEmpty();
  }

  /// The device was claimed before its denial was repeated, and was not in the table when the
  /// directory was asked about the devices there.
  @Test
  void a_missed_denial_ends_a_session_that_was_arriving() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    var device = device("new");
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));
    directory.owned.put(device, new SessionOwner(new NodeId("a"), EPOCH));
    slow.claim(device, FormerSession.FORGET, ENDS, new QuietClient().loop(), _ -> {});
    directory.denied.add(device);
    slow.compareAll();
    slow.compareNext(Duration.ofSeconds(1));
    var late = session(device);
    slow.arrived(device, EPOCH);
    directory.denialsAway = true;
    slow.compareNext(Duration.ofSeconds(1));
    directory.denialsAway = false;
    assertThat(late.isDenied()).isFalse();

    slow.compareNext(Duration.ofSeconds(1));

    assertThat(late.isDenied()).isTrue();
    int asked = directory.askedForDenials;
    slow.compareNext(Duration.ofSeconds(1));
    slow.compareNext(Duration.ofSeconds(1));
    assertThat(directory.askedForDenials).as("the directory is asked no more").isEqualTo(asked);
  }

  /// Otherwise the end of the session would remove the arriving connection's only entry.
  @Test
  void a_session_does_not_adopt_the_epoch_of_a_connection_that_is_arriving() {
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH + 1));
    claimed(DEVICE, EPOCH + 1);

    registrar.doubt(session);
    assertThat(session.epoch()).isEqualTo(EPOCH);

    registrar.arrived(DEVICE, EPOCH + 1);
    registrar.doubt(session);
    assertThat(session.epoch()).isEqualTo(EPOCH + 1);
  }

  /// All sessions may have been compared while the answer was on its way to the loop.
  @Test
  void a_session_with_an_unanswered_claim_is_announced_on_arrival() {
    var device = device("new");
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));
    directory.claimed = new Answer.Failed("out of memory");
    registrar.claim(device, FormerSession.FORGET, ENDS, new QuietClient().loop(), _ -> {});
    registrar.compareAll();
    registrar.compareNext(registrar.pause());
    session(device);

    assertThat(registrar.arrived(device, clock.millis())).isTrue();

    assertThat(directory.announced).containsExactly(Map.of(device, new Announced(EPOCH, ENDS)));
  }

  @Test
  void a_device_that_was_arriving_when_notices_were_missed_is_compared() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    var device = device("new");
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));
    slow.claim(device, FormerSession.FORGET, ENDS, new QuietClient().loop(), _ -> {});
    slow.compareAll();
    directory.owned.put(device, new SessionOwner(new NodeId("b"), EPOCH + 1));
    directory.claimed = new Answer.Claimed(EPOCH, Optional.empty(), false, Optional.empty());
    sender.forEach(Runnable::run);
    var late = session(device);
    slow.arrived(device, EPOCH);
    assertThat(late.isLost()).isFalse();

    slow.compareNext(Duration.ofSeconds(1));

    assertThat(late.isLost()).isTrue();
  }
}
