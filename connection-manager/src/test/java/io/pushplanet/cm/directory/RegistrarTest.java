package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.directory.Directory.Announced;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Former;
import io.pushplanet.cm.directory.Directory.Order;
import io.pushplanet.cm.directory.Directory.Remembered;
import io.pushplanet.cm.directory.Registrar.Claim;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices.Bequest;
import io.pushplanet.common.session.TakeoverNotices.Denial;
import io.pushplanet.common.session.TakeoverNotices.Handover;
import io.pushplanet.common.session.TakeoverNotices.Notice;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A session that the directory has lost, and what its node says of it afterwards.
class RegistrarTest {
  private static final DeviceKey DEVICE = new DeviceKey(new AppId("shop"), new DeviceId("d1"));
  private static final Subscription AT_ONE = Subscription.of(QoS.AT_LEAST_ONCE, 0);
  private static final long EPOCH = 7;
  private static final long ENDS = 70;

  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final SessionMetrics metrics = new SessionMetrics(meters);
  private final SessionTable table = new SessionTable();
  private final Asked directory = new Asked();
  private final List<Runnable> timers = new ArrayList<>();
  private final AtomicInteger looks = new AtomicInteger();
  private Runnable whileLooking = () -> {};
  private boolean parkedAway;
  private final Registrar registrar = registrar(Runnable::run, Runnable::run);
  private final DeviceSession session = session(DEVICE);

  private Registrar registrar(Executor workers, Executor sender) {
    return new Registrar(
        directory,
        new NodeId("a"),
        table,
        this::parkedAmong,
        meters,
        clock,
        new DirectorySettings(
            100,
            Duration.ofSeconds(5),
            Duration.ofSeconds(1),
            Duration.ZERO,
            Duration.ofMinutes(5),
            Duration.ofDays(1_000)),
        workers,
        sender,
        (_, task) -> timers.add(task));
  }

  @Test
  void what_a_node_announces_is_not_remembered_on_its_word() {
    registrar.doubtAll();

    registrar.remember(session);

    assertThat(directory.announced).containsExactly(Map.of(DEVICE, new Announced(EPOCH, ENDS)));
    assertThat(directory.orders).isEmpty();
  }

  @Test
  void what_waited_in_the_socket_while_the_node_stood_still_proves_nothing() {
    registrar.stoodStill(session.loop(), Duration.ofSeconds(30), () -> 0);
    clock.advance(Duration.ofSeconds(2));

    registrar.heard(session);
    registrar.remember(session);

    assertThat(directory.orders).isEmpty();
  }

  @Test
  void each_loop_that_stood_still_compares_its_own_sessions_itself_before_it_goes_on() {
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
    assertThat(workers).as("looks into the inboxes").hasSize(2);
  }

  /// Another node takes a device that was compared already.
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
  void a_device_that_speaks_afterwards_has_its_session_remembered_again() {
    registrar.doubtAll();
    clock.advance(Duration.ofMinutes(1));

    registrar.heard(session);
    registrar.release(session, 3_600);

    assertThat(directory.orders)
        .containsExactly(
            new Order.Remember(DEVICE, EPOCH, AT_ONE, ENDS),
            new Order.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  @Test
  void a_session_known_by_its_nodes_word_only_ends_with_its_connection() {
    registrar.doubtAll();

    registrar.release(session, 3_600);

    assertThat(directory.orders).containsExactly(new Order.End(DEVICE, EPOCH, 0, AT_ONE, ENDS));
  }

  @Test
  void a_session_that_ends_while_it_is_being_announced_leaves_nothing_either() {
    directory.meanwhile = () -> registrar.release(session, 3_600);

    registrar.doubtAll();

    assertThat(directory.orders).containsExactly(new Order.End(DEVICE, EPOCH, 0, AT_ONE, ENDS));
  }

  @Test
  void a_device_that_was_elsewhere_waits_for_that_node_to_say_how_its_session_was() {
    var claims = claimed(Former.RESUME);
    registrar.left(new Bequest(DEVICE, EPOCH - 1, "1,0"));
    assertThat(claims).as("another session").isEmpty();

    registrar.left(new Bequest(DEVICE, EPOCH, "3,0"));
    registrar.left(new Bequest(DEVICE, EPOCH, "1,0"));
    timers.forEach(Runnable::run);

    assertThat(claims)
        .containsExactly(new Claim.Taken(EPOCH + 1, Optional.of(new Remembered(null, EPOCH))));
  }

  @Test
  void that_node_may_have_spoken_before_the_directory_answers() {
    directory.whileClaiming = () -> registrar.left(new Bequest(DEVICE, EPOCH, "1,0"));

    assertThat(claimed(Former.RESUME))
        .containsExactly(new Claim.Taken(EPOCH + 1, Optional.of(new Remembered(AT_ONE, EPOCH))));
    assertThat(directory.orders)
        .last()
        .isEqualTo(new Order.Remember(DEVICE, EPOCH + 1, AT_ONE, ENDS));
  }

  @Test
  void a_session_that_a_connect_took_up_and_came_to_nothing_lives_as_long_as_was_wished() {
    var other = device("other");

    registrar.abandon(
        other, new Claim.Taken(EPOCH, Optional.of(new Remembered(AT_ONE, EPOCH - 1))), 60, ENDS);
    registrar.abandon(
        other, new Claim.Taken(EPOCH, Optional.of(new Remembered(null, EPOCH - 1))), 60, ENDS);
    registrar.abandon(other, new Claim.Taken(EPOCH, Optional.empty()), 60, ENDS);
    registrar.abandon(
        other, new Claim.Taken(EPOCH, Optional.of(new Remembered(AT_ONE, EPOCH - 1))), 0, ENDS);

    assertThat(directory.orders)
        .containsExactly(
            new Order.End(other, EPOCH, 60, AT_ONE, ENDS),
            new Order.End(other, EPOCH, 60, null, ENDS),
            new Order.Release(other, EPOCH),
            new Order.Release(other, EPOCH));
  }

  @Test
  void of_a_node_that_says_nothing_no_session_is_known() {
    var claims = claimed(Former.RESUME);

    timers.forEach(Runnable::run);
    registrar.left(new Bequest(DEVICE, EPOCH, "1,0"));

    assertThat(claims).containsExactly(new Claim.Taken(EPOCH + 1, Optional.empty()));
    assertThat(meters.counter("cm.session.takeovers.unanswered").count()).isOne();
  }

  @ParameterizedTest
  @EnumSource(names = {"RESUME", "RESUME_ONCE"})
  void who_had_the_device_lets_go_of_it_before_it_is_here(Former wish) {
    directory.remembered = Optional.of(new Remembered(AT_ONE, EPOCH - 2));
    var claims = claimed(wish);
    assertThat(claims).isEmpty();

    registrar.left(new Bequest(DEVICE, EPOCH, "3,0"));

    assertThat(claims)
        .as("what the directory says of the session counts")
        .containsExactly(new Claim.Taken(EPOCH + 1, directory.remembered));
  }

  @Test
  void who_wants_no_session_gets_none_from_another_node() {
    var claims = claimed(Former.FORGET);

    registrar.left(new Bequest(DEVICE, EPOCH, "1,0"));

    assertThat(claims).containsExactly(new Claim.Taken(EPOCH + 1, Optional.empty()));
  }

  @Test
  void nobody_waits_for_a_node_that_is_dead() {
    directory.heard = false;

    assertThat(claimed(Former.RESUME))
        .containsExactly(new Claim.Taken(EPOCH + 1, Optional.empty()));
  }

  @Test
  void that_it_has_nothing_more_does_not_hide_the_session_that_it_left() {
    directory.whileClaiming =
        () -> {
          registrar.left(new Bequest(DEVICE, EPOCH, "1,0"));
          registrar.left(new Bequest(DEVICE, EPOCH, ""));
        };

    assertThat(claimed(Former.RESUME))
        .containsExactly(new Claim.Taken(EPOCH + 1, Optional.of(new Remembered(AT_ONE, EPOCH))));
  }

  @Test
  void a_device_that_another_node_takes_and_that_is_not_here_is_let_go_of_at_once() {
    var other = device("other");

    registrar.takenOver(new Notice(other, new SessionOwner(new NodeId("b"), EPOCH)));

    assertThat(directory.orders)
        .containsExactly(new Order.LetGo(other, new SessionOwner(new NodeId("b"), EPOCH), ""));
  }

  @Test
  void a_claim_behind_one_that_waits_on_this_node_waits_with_it() {
    var first = claimed(Former.RESUME);
    directory.claimed =
        new Answer.Claimed(
            EPOCH + 2,
            Optional.of(new SessionOwner(new NodeId("a"), EPOCH + 1)),
            false,
            Optional.empty());
    var second = new ArrayList<Claim>();
    registrar.claim(DEVICE, Former.RESUME, ENDS, new QuietClient().loop(), second::add);
    assertThat(second).isEmpty();

    registrar.left(new Bequest(DEVICE, EPOCH, "1,0"));

    var remembered = Optional.of(new Remembered(AT_ONE, EPOCH));
    assertThat(first).containsExactly(new Claim.Taken(EPOCH + 1, remembered));
    assertThat(second).containsExactly(new Claim.Taken(EPOCH + 2, remembered));
  }

  @Test
  void who_claimed_it_before_this_node_did_does_not_wait_for_it() {
    var other = device("other");
    var before = new SessionOwner(new NodeId("b"), EPOCH);
    directory.whileClaiming =
        () -> {
          directory.whileClaiming = () -> {};
          registrar.takenOver(new Notice(other, before));
        };
    directory.claimed = new Answer.Claimed(EPOCH + 1, Optional.of(before), true, Optional.empty());

    registrar.claim(other, Former.RESUME, ENDS, new QuietClient().loop(), _ -> {});

    assertThat(directory.orders)
        .containsExactly(
            new Order.Claim(other, Former.RESUME, ENDS), new Order.LetGo(other, before, ""));
  }

  @Test
  void who_waits_for_the_node_before_lets_the_next_one_wait() {
    var other = device("other");
    var next = new SessionOwner(new NodeId("c"), EPOCH + 5);
    directory.claimed =
        new Answer.Claimed(
            EPOCH + 1,
            Optional.of(new SessionOwner(new NodeId("b"), EPOCH)),
            true,
            Optional.empty());
    registrar.claim(other, Former.RESUME, ENDS, new QuietClient().loop(), _ -> {});
    registrar.takenOver(new Notice(other, next));
    registrar.left(new Bequest(other, EPOCH, "1,0"));
    assertThat(directory.orders).doesNotHaveAnyElementsOfTypes(Order.LetGo.class);

    assertThat(registrar.arrived(other, EPOCH + 1)).isFalse();

    assertThat(directory.orders).last().isEqualTo(new Order.LetGo(other, next, ""));
  }

  @Test
  void the_end_of_a_session_answers_who_took_it() {
    var heir = new SessionOwner(new NodeId("b"), EPOCH + 3);
    registrar.takenOver(new Notice(DEVICE, heir));
    assertThat(session.isLost()).isTrue();
    assertThat(directory.orders).isEmpty();
    table.remove(session);

    registrar.release(session, 3_600);

    assertThat(directory.orders)
        .containsExactly(
            new Order.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS),
            new Order.LetGo(DEVICE, heir, "1,0"));
  }

  @Test
  void answers_leave_half_of_the_line_to_those_who_connect_and_are_not_kept() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    for (int n = 0; n < 200; n++) {
      slow.takenOver(new Notice(device("gone-" + n), new SessionOwner(new NodeId("b"), EPOCH)));
    }

    assertThat(slow.claim(device("new"), Former.FORGET, ENDS, new QuietClient().loop(), _ -> {}))
        .isTrue();
    while (!sender.isEmpty()) {
      sender.remove().run();
    }
    assertThat(directory.orders).hasSize(51);
    assertThat(slow.pause()).as("nothing is told later").isEqualTo(registrar.pause());
  }

  @Test
  void one_that_is_on_its_way_is_let_go_of_when_it_is_here() {
    var other = device("other");
    directory.whileClaiming =
        () -> registrar.takenOver(new Notice(other, new SessionOwner(new NodeId("b"), EPOCH)));

    registrar.claim(other, Former.RESUME, ENDS, new QuietClient().loop(), _ -> {});

    assertThat(directory.orders).containsExactly(new Order.Claim(other, Former.RESUME, ENDS));
  }

  @Test
  void who_connected_while_the_directory_came_back_is_announced_with_all_the_others() {
    registrar.away(new DirectoryUnavailable("away", null));
    registrar.compareNext(registrar.pause());
    assertThat(directory.announced).containsExactly(Map.of(DEVICE, new Announced(EPOCH, ENDS)));

    var late = IntStream.range(0, 5).mapToObj(n -> device("late-" + n)).toList();
    late.forEach(this::session);
    registrar.compareNext(registrar.pause());

    assertThat(directory.announced).hasSize(2);
    assertThat(directory.announced.getLast()).containsKeys(late.toArray(DeviceKey[]::new));
  }

  /// A million sessions take seconds, in which one call or another may fail.
  @Test
  void a_node_does_without_the_directory_until_it_answers_not_until_all_are_compared() {
    var sessions = IntStream.range(0, 1_200).mapToObj(n -> session(device("a" + n))).toList();
    var reachable = new ArrayList<Boolean>();
    directory.whileAsked =
        () -> {
          reachable.add(registrar.isReachable());
          if (reachable.size() == 3) {
            throw new DirectoryUnavailable("one call", null);
          }
        };
    registrar.away(new DirectoryUnavailable("away", null));

    registrar.compareNext(registrar.pause());
    assertThat(reachable).containsExactly(false, true, true);
    assertThat(registrar.isReachable()).isFalse();
    registrar.compareNext(registrar.pause());

    assertThat(reachable.subList(3, reachable.size())).containsExactly(false, true, true, true);
    assertThat(directory.asked).containsAll(sessions.stream().map(DeviceSession::key).toList());
  }

  @Test
  void a_device_that_subscribes_over_and_over_stands_in_line_once() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    for (int time = 0; time < 5_000; time++) {
      session.unsubscribe();
      slow.remember(session);
      session.subscribe(Subscription.of(QoS.AT_MOST_ONCE, time));
      slow.remember(session);
    }
    assertThat(slow.claim(device("other"), Former.FORGET, ENDS, new QuietClient().loop(), _ -> {}))
        .isTrue();

    sender.remove().run();
    session.unsubscribe();
    slow.remember(session);
    sender.remove().run();

    assertThat(directory.orders)
        .containsExactly(
            new Order.Remember(DEVICE, EPOCH, Subscription.of(QoS.AT_MOST_ONCE, 4_999), ENDS),
            new Order.Claim(device("other"), Former.FORGET, ENDS),
            new Order.Forget(DEVICE, EPOCH, ENDS));
  }

  @Test
  void what_could_not_be_said_while_the_directory_was_away_is_said_when_it_changes_again() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    slow.remember(session);
    slow.away(new DirectoryUnavailable("away", null));
    sender.remove().run();
    slow.remember(session);
    slow.compareNext(slow.pause());
    session.prove();

    slow.remember(session);
    sender.remove().run();

    assertThat(directory.orders).containsExactly(new Order.Remember(DEVICE, EPOCH, AT_ONE, ENDS));
  }

  /// A million devices would ask twice a second each.
  @Test
  void while_mysql_is_away_no_inbox_is_read_on_suspicion_and_all_are_looked_into_once_it_is_back() {
    var asking = new AsksForParked();
    var all = known(1_200, asking);
    parkedAway = true;

    registrar.lapsed();
    registrar.compareNext(registrar.pause());
    registrar.compareNext(registrar.pause());
    assertThat(looks).as("statements: one each time").hasValue(3);
    assertThat(asking.times).isZero();

    parkedAway = false;
    registrar.compareNext(registrar.pause());
    assertThat(asking.times).as("each is looked after").isEqualTo(all.size());

    registrar.compareNext(registrar.pause());
    assertThat(asking.times).as("once").isEqualTo(all.size());
  }

  @Test
  void who_is_missed_while_all_are_looked_into_again_gets_another_look() {
    var asking = new AsksForParked();
    var all = known(1_200, asking);
    parkedAway = true;
    registrar.lapsed();
    parkedAway = false;
    whileLooking = () -> parkedAway = looks.get() == 3;

    registrar.compareNext(registrar.pause());
    assertThat(asking.times).isLessThan(all.size());
    parkedAway = false;
    int before = asking.times;
    registrar.compareNext(registrar.pause());

    assertThat(asking.times - before).isEqualTo(all.size());
  }

  @Test
  void an_end_that_the_directory_has_not_heard_of_is_told_once_it_is_back() {
    table.remove(session);
    registrar.away(new DirectoryUnavailable("away", null));
    registrar.release(session, 3_600);
    assertThat(directory.orders).isEmpty();

    registrar.compareNext(registrar.pause());
    registrar.compareNext(registrar.pause());

    assertThat(directory.orders).containsExactly(new Order.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  @Test
  void what_is_still_to_be_told_is_told_before_a_node_leaves() {
    table.remove(session);
    registrar.away(new DirectoryUnavailable("away", null));
    registrar.release(session, 3_600);
    registrar.doubtAll();
    assertThat(directory.orders).isEmpty();

    registrar.close();

    assertThat(directory.orders).containsExactly(new Order.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  @Test
  void an_end_that_was_under_way_when_the_directory_went_away_is_told_again() {
    table.remove(session);
    directory.isAway = true;
    registrar.release(session, 3_600);
    assertThat(registrar.isReachable()).isFalse();

    directory.isAway = false;
    registrar.compareNext(registrar.pause());

    assertThat(directory.orders).containsExactly(new Order.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  /// A gateway's frame for a device that has just left.
  @Test
  void
      as_many_are_compared_as_the_wait_was_for_also_when_there_is_something_to_be_told_at_its_end() {
    known(1_199, new AsksForParked());
    var pause = registrar.pause();
    assertThat(pause).isEqualTo(Duration.ofSeconds(5));
    registrar.absent(device("gone"), EPOCH);

    registrar.compareNext(pause);

    assertThat(directory.asked).as("1,200 in five minutes").hasSize(20);
  }

  /// 100,000 resets at once.
  @Test
  void ends_that_find_no_room_in_line_are_told_when_there_is_some() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    var all = IntStream.range(0, 1_000).mapToObj(n -> session(device("a" + n))).toList();
    all.forEach(each -> {
      table.remove(each);
      slow.release(each, 3_600);
    });
    assertThat(slow.pause()).as("2,000 at most in each").isEqualTo(Duration.ofMillis(200));

    for (int round = 0; round < 1_000 && directory.orders.size() < all.size(); round++) {
      while (!sender.isEmpty()) {
        sender.remove().run();
      }
      slow.compareNext(slow.pause());
    }

    assertThat(directory.orders)
        .extracting(Order::device)
        .containsExactlyInAnyOrderElementsOf(all.stream().map(DeviceSession::key).toList());
    assertThat(slow.pause()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void the_end_of_a_connection_is_not_told_after_the_device_has_come_back() {
    table.remove(session);
    registrar.away(new DirectoryUnavailable("away", null));
    registrar.release(session, 3_600);
    registrar.claim(DEVICE, Former.RESUME, ENDS, new QuietClient().loop(), _ -> {});

    registrar.compareNext(registrar.pause());

    assertThat(directory.orders).isEmpty();
  }

  @Test
  void what_the_directory_has_here_and_is_not_is_released() {
    registrar.absent(DEVICE, EPOCH);
    registrar.absent(device("gone"), EPOCH);

    registrar.compareNext(registrar.pause());

    assertThat(directory.orders).containsExactly(new Order.Release(device("gone"), EPOCH));
  }

  @Test
  void a_session_whose_password_is_denied_is_ended_when_it_is_announced() {
    var other = session(device("other"));
    directory.denied.add(DEVICE);

    registrar.doubtAll();

    assertThat(session.isLost()).isTrue();
    assertThat(session.terms().expirySeconds()).as("nothing is left of it").isZero();
    assertThat(other.isLost()).isFalse();
    assertThat(count("cm.session.denied")).isOne();
    assertThat(count("cm.session.fenced")).isZero();
  }

  private double count(String meter) {
    return meters.get(meter).counter().count();
  }

  @Test
  void
      a_session_is_ended_by_the_notice_that_its_password_is_denied_and_one_of_a_later_one_compared() {
    registrar.denied(new Denial(DEVICE, EPOCH, ENDS - 1));
    assertThat(session.isLost()).isFalse();
    assertThat(directory.asked).containsExactly(DEVICE);

    registrar.denied(new Denial(DEVICE, EPOCH, ENDS));

    assertThat(session.isLost()).isTrue();
    assertThat(count("cm.session.denied")).isOne();
  }

  @Test
  void a_device_that_is_deleted_while_it_arrives_does_not_arrive() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    for (var id : List.of("early", "late")) {
      slow.claim(device(id), Former.FORGET, ENDS, new QuietClient().loop(), _ -> {});
      slow.denied(new Denial(device(id), EPOCH, ENDS));
    }

    assertThat(slow.arrived(device("early"), EPOCH)).isFalse();
    assertThat(slow.arrived(device("late"), EPOCH + 1)).as("claimed since").isTrue();
  }

  @Test
  void nothing_is_left_of_the_session_of_a_device_that_has_another_user() {
    registrar.handedOver(new Handover(DEVICE, EPOCH - 1));
    assertThat(session.isLost()).as("claimed since, and begun anew").isFalse();

    registrar.handedOver(new Handover(DEVICE, EPOCH));

    assertThat(session.isLost()).isTrue();
    assertThat(session.isDenied()).isFalse();
    assertThat(session.terms().expirySeconds()).isZero();
    assertThat(count("cm.session.handed.over")).isOne();
    assertThat(count("cm.session.fenced")).isZero();
  }

  @Test
  void a_device_that_gets_another_user_while_it_arrives_comes_again() {
    registrar.claim(device("early"), Former.RESUME, ENDS, new QuietClient().loop(), _ -> {});

    registrar.handedOver(new Handover(device("early"), EPOCH));

    assertThat(registrar.arrived(device("early"), EPOCH)).isFalse();
  }

  /// A denial that is told again leaves the owner where his node seems to hear it.
  @Test
  void where_notices_were_missed_a_session_that_the_directory_knows_may_be_denied_too() {
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));
    registrar.doubtAll();
    assertThat(session.isDenied()).isFalse();
    directory.denied.add(DEVICE);
    registrar.compareNext(Duration.ofMinutes(5));
    assertThat(session.isDenied()).as("without a reason nobody asks").isFalse();

    directory.denialsAway = true;
    registrar.doubtAll();
    assertThat(session.isDenied()).isFalse();
    directory.denialsAway = false;
    registrar.compareNext(Duration.ofSeconds(1));

    assertThat(session.isDenied()).isTrue();
    assertThat(directory.announced).isEmpty();
  }

  /// Claimed before his denial was told again, and not in the table when all who are there were asked about.
  @Test
  void where_notices_were_missed_who_was_arriving_is_asked_about_when_he_has_arrived() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    var device = device("new");
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));
    directory.owned.put(device, new SessionOwner(new NodeId("a"), EPOCH));
    slow.claim(device, Former.FORGET, ENDS, new QuietClient().loop(), _ -> {});
    directory.denied.add(device);
    slow.doubtAll();
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
    assertThat(directory.askedForDenials).as("nobody else").isEqualTo(asked);
  }

  @Test
  void who_is_denied_has_not_come_and_the_end_of_his_last_connection_is_still_told() {
    table.remove(session);
    registrar.away(new DirectoryUnavailable("away", null));
    registrar.release(session, 3_600);
    registrar.doubtAll();
    directory.claimed = new Answer.Denied();
    var claims = new ArrayList<Claim>();

    registrar.claim(DEVICE, Former.RESUME, ENDS, new QuietClient().loop(), claims::add);
    registrar.compareNext(registrar.pause());

    assertThat(claims).containsExactly(new Claim.Denied());
    assertThat(registrar.arriving()).isZero();
    assertThat(directory.orders)
        .containsExactly(
            new Order.Claim(DEVICE, Former.RESUME, ENDS),
            new Order.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  /// The later connection is gone, and its end has deleted the entry in the directory.
  @Test
  void a_connection_does_not_get_in_behind_a_later_one_that_is_gone() {
    var device = device("new");
    var first = claimed(device, EPOCH + 1);
    var second = claimed(device, EPOCH + 2);

    registrar.abandon(device, second, 0, ENDS);

    assertThat(directory.orders).contains(new Order.Release(device, EPOCH + 2));
    assertThat(registrar.arrived(device, first.epoch())).isFalse();
  }

  @Test
  void a_connection_does_not_get_in_behind_a_later_one_that_the_directory_did_not_answer() {
    var device = device("new");
    var first = claimed(device, clock.millis() + 7);
    directory.claimed = new Answer.Failed("out of memory");
    var claims = new ArrayList<Claim>();
    registrar.claim(device, Former.FORGET, ENDS, new QuietClient().loop(), claims::add);
    registrar.claim(device, Former.FORGET, ENDS, new QuietClient().loop(), claims::add);

    assertThat(claims)
        .extracting(claim -> ((Claim.Taken) claim).epoch())
        .containsExactly(first.epoch() + 1, first.epoch() + 2);
    assertThat(registrar.arrived(device, first.epoch())).isFalse();
  }

  /// With the session its entry would go, and the connection that is about to be here has no other.
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

  /// Everything may have been compared while its answer was on its way to the loop.
  @Test
  void a_session_that_the_directory_has_not_answered_is_announced_when_it_has_arrived() {
    var device = device("new");
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));
    directory.claimed = new Answer.Failed("out of memory");
    registrar.claim(device, Former.FORGET, ENDS, new QuietClient().loop(), _ -> {});
    registrar.doubtAll();
    registrar.compareNext(registrar.pause());
    session(device);

    assertThat(registrar.arrived(device, clock.millis())).isTrue();

    assertThat(directory.announced).containsExactly(Map.of(device, new Announced(EPOCH, ENDS)));
  }

  @Test
  void where_notices_were_missed_a_device_that_was_arriving_is_compared_when_it_has_arrived() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    var device = device("new");
    directory.owned.put(DEVICE, new SessionOwner(new NodeId("a"), EPOCH));
    slow.claim(device, Former.FORGET, ENDS, new QuietClient().loop(), _ -> {});
    slow.doubtAll();
    directory.owned.put(device, new SessionOwner(new NodeId("b"), EPOCH + 1));
    directory.claimed = new Answer.Claimed(EPOCH, Optional.empty(), false, Optional.empty());
    sender.forEach(Runnable::run);
    var late = session(device);
    slow.arrived(device, EPOCH);
    assertThat(late.isLost()).isFalse();

    slow.compareNext(Duration.ofSeconds(1));

    assertThat(late.isLost()).isTrue();
  }

  /// Claims the device for one more connection, which is given this epoch.
  private Claim.Taken claimed(DeviceKey device, long epoch) {
    directory.claimed = new Answer.Claimed(epoch, Optional.empty(), false, Optional.empty());
    var claims = new ArrayList<Claim>();
    registrar.claim(device, Former.FORGET, ENDS, new QuietClient().loop(), claims::add);
    return (Claim.Taken) claims.getFirst();
  }

  @Test
  void a_device_that_is_arriving_is_not_released() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    slow.claim(device("new"), Former.FORGET, ENDS, new QuietClient().loop(), _ -> {});

    slow.absent(device("new"), EPOCH);
    slow.compareNext(slow.pause());
    sender.forEach(Runnable::run);

    assertThat(directory.orders)
        .containsExactly(new Order.Claim(device("new"), Former.FORGET, ENDS));
  }

  /// So many, of which the directory knows.
  private List<DeviceSession> known(int sessions, AsksForParked client) {
    var all = IntStream.range(0, sessions).mapToObj(n -> session(device("a" + n), client)).toList();
    all.forEach(each -> directory.owned.put(each.key(), new SessionOwner(new NodeId("a"), EPOCH)));
    client.times = 0;
    return all;
  }

  private Optional<Collection<DeviceKey>> parkedAmong(List<DeviceKey> devices) {
    looks.incrementAndGet();
    whileLooking.run();
    return parkedAway ? Optional.empty() : Optional.of(devices);
  }

  private static final class AsksForParked extends QuietClient {
    private int times;

    @Override
    public void askForParked() {
      times++;
    }
  }

  private static DeviceKey device(String id) {
    return new DeviceKey(DEVICE.app(), new DeviceId(id));
  }

  private List<Claim> claimed(Former wish) {
    directory.claimed =
        new Answer.Claimed(
            EPOCH + 1,
            Optional.of(new SessionOwner(new NodeId("b"), EPOCH)),
            directory.heard,
            directory.remembered);
    var claims = new ArrayList<Claim>();
    assertThat(registrar.claim(DEVICE, wish, ENDS, new QuietClient().loop(), claims::add)).isTrue();
    return claims;
  }

  private DeviceSession session(DeviceKey device) {
    return session(device, new QuietClient().loop());
  }

  private DeviceSession session(DeviceKey device, Loop loop) {
    return session(device, new QuietClient(loop));
  }

  private DeviceSession session(DeviceKey device, QuietClient client) {
    var shared =
        new DeviceSession.Shared(
            new SessionLimits(16, 128, Duration.ofSeconds(2), Duration.ZERO, Duration.ofMinutes(1)),
            metrics,
            new LateAcknowledgements(1, _ -> {}),
            clock);
    var made =
        new DeviceSession(
            device, EPOCH, ENDS, new SessionTerms(16, 1 << 20, 3_600), shared, client);
    made.subscribe(AT_ONE);
    table.put(made);
    return made;
  }

  /// Knows nobody, and believes whoever announces himself.
  private static final class Asked implements Directory {
    private final List<Order> orders = new ArrayList<>();
    private final List<Map<DeviceKey, Announced>> announced = new ArrayList<>();
    private Runnable meanwhile = () -> {};
    private Runnable whileClaiming = () -> {};
    private Optional<Remembered> remembered = Optional.empty();
    private boolean heard = true;
    private Runnable whileAsked = () -> {};
    private Answer claimed = new Answer.Done();
    private final List<DeviceKey> asked = new ArrayList<>();
    private final Map<DeviceKey, SessionOwner> owned = new HashMap<>();
    private final Set<DeviceKey> denied = new HashSet<>();
    private boolean isAway;
    private boolean denialsAway;
    private int askedForDenials;

    @Override
    public List<Answer> carryOut(List<Order> some) {
      if (isAway) {
        throw new DirectoryUnavailable("away", null);
      }
      orders.addAll(some);
      whileClaiming.run();
      return some.stream()
          .map(order -> order instanceof Order.Claim ? claimed : new Answer.Done())
          .toList();
    }

    @Override
    public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
      if (isAway) {
        throw new DirectoryUnavailable("away", null);
      }
      asked.addAll(devices);
      whileAsked.run();
      return owned;
    }

    @Override
    public Announcement announce(Map<DeviceKey, Announced> sessions) {
      announced.add(sessions);
      meanwhile.run();
      var owners = new HashMap<DeviceKey, SessionOwner>();
      sessions.forEach((device, session) -> {
        if (!denied.contains(device)) {
          owners.put(device, new SessionOwner(new NodeId("a"), session.epoch()));
        }
      });
      return new Announcement(owners, denied);
    }

    @Override
    public Set<DeviceKey> denied(Map<DeviceKey, Long> passwordEnds) {
      askedForDenials++;
      if (denialsAway) {
        throw new DirectoryUnavailable("away", null);
      }
      return denied;
    }
  }
}
