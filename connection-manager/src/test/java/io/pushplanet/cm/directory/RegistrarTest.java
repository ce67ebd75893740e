package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.directory.Directory.Announced;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.directory.Directory.RememberedSession;
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
import io.pushplanet.common.session.SessionNotice.Denial;
import io.pushplanet.common.session.SessionNotice.Handover;
import io.pushplanet.common.session.SessionNotice.SessionRelease;
import io.pushplanet.common.session.SessionNotice.Takeover;
import io.pushplanet.common.session.SessionOwner;
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
  void an_announced_session_is_not_remembered() {
    registrar.compareAll();

    registrar.remember(session);

    assertThat(directory.announced).containsExactly(Map.of(DEVICE, new Announced(EPOCH, ENDS)));
    assertThat(directory.commands).isEmpty();
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
    registrar.release(session, 3_600);

    assertThat(directory.commands)
        .containsExactly(
            new Command.Remember(DEVICE, EPOCH, AT_ONE, ENDS),
            new Command.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  @Test
  void a_presumed_session_ends_with_its_connection() {
    registrar.compareAll();

    registrar.release(session, 3_600);

    assertThat(directory.commands).containsExactly(new Command.End(DEVICE, EPOCH, 0, AT_ONE, ENDS));
  }

  @Test
  void a_session_that_ends_during_its_announcement_is_not_remembered() {
    directory.meanwhile = () -> registrar.release(session, 3_600);

    registrar.compareAll();

    assertThat(directory.commands).containsExactly(new Command.End(DEVICE, EPOCH, 0, AT_ONE, ENDS));
  }

  @Test
  void a_claim_waits_until_the_former_owner_describes_the_session() {
    var claims = claimed(FormerSession.RESUME);
    registrar.hear(new SessionRelease(DEVICE, EPOCH - 1, "1,0"));
    assertThat(claims).as("another session").isEmpty();

    registrar.hear(new SessionRelease(DEVICE, EPOCH, "3,0"));
    registrar.hear(new SessionRelease(DEVICE, EPOCH, "1,0"));
    timers.forEach(Runnable::run);

    assertThat(claims)
        .containsExactly(
            new Claim.Taken(EPOCH + 1, Optional.of(new RememberedSession(null, EPOCH))));
  }

  @Test
  void the_former_owner_may_describe_the_session_before_the_claim_is_answered() {
    directory.whileClaiming = () -> registrar.hear(new SessionRelease(DEVICE, EPOCH, "1,0"));

    assertThat(claimed(FormerSession.RESUME))
        .containsExactly(
            new Claim.Taken(EPOCH + 1, Optional.of(new RememberedSession(AT_ONE, EPOCH))));
    assertThat(directory.commands)
        .last()
        .isEqualTo(new Command.Remember(DEVICE, EPOCH + 1, AT_ONE, ENDS));
  }

  @Test
  void a_session_resumed_by_a_failed_connect_keeps_its_new_expiry() {
    var other = device("other");

    registrar.abandon(
        other,
        new Claim.Taken(EPOCH, Optional.of(new RememberedSession(AT_ONE, EPOCH - 1))),
        60,
        ENDS);
    registrar.abandon(
        other,
        new Claim.Taken(EPOCH, Optional.of(new RememberedSession(null, EPOCH - 1))),
        60,
        ENDS);
    registrar.abandon(other, new Claim.Taken(EPOCH, Optional.empty()), 60, ENDS);
    registrar.abandon(
        other,
        new Claim.Taken(EPOCH, Optional.of(new RememberedSession(AT_ONE, EPOCH - 1))),
        0,
        ENDS);

    assertThat(directory.commands)
        .containsExactly(
            new Command.End(other, EPOCH, 60, AT_ONE, ENDS),
            new Command.End(other, EPOCH, 60, null, ENDS),
            new Command.Release(other, EPOCH),
            new Command.Release(other, EPOCH));
  }

  @Test
  void a_claim_goes_on_without_a_session_when_the_former_owner_is_silent() {
    var claims = claimed(FormerSession.RESUME);

    timers.forEach(Runnable::run);
    registrar.hear(new SessionRelease(DEVICE, EPOCH, "1,0"));

    assertThat(claims).containsExactly(new Claim.Taken(EPOCH + 1, Optional.empty()));
    assertThat(meters.counter("cm.session.takeovers.unanswered").count()).isOne();
  }

  @ParameterizedTest
  @EnumSource(names = {"RESUME", "RESUME_ONCE"})
  void the_former_owner_releases_the_device_before_the_claim_goes_on(FormerSession wish) {
    directory.remembered = Optional.of(new RememberedSession(AT_ONE, EPOCH - 2));
    var claims = claimed(wish);
    assertThat(claims).isEmpty();

    registrar.hear(new SessionRelease(DEVICE, EPOCH, "3,0"));

    assertThat(claims)
        .as("the directory's session is preferred")
        .containsExactly(new Claim.Taken(EPOCH + 1, directory.remembered));
  }

  @Test
  void a_clean_start_gets_no_session_from_the_former_owner() {
    var claims = claimed(FormerSession.FORGET);

    registrar.hear(new SessionRelease(DEVICE, EPOCH, "1,0"));

    assertThat(claims).containsExactly(new Claim.Taken(EPOCH + 1, Optional.empty()));
  }

  @Test
  void a_claim_does_not_wait_for_a_dead_node() {
    directory.heard = false;

    assertThat(claimed(FormerSession.RESUME))
        .containsExactly(new Claim.Taken(EPOCH + 1, Optional.empty()));
  }

  @Test
  void a_later_empty_release_does_not_hide_the_described_session() {
    directory.whileClaiming =
        () -> {
          registrar.hear(new SessionRelease(DEVICE, EPOCH, "1,0"));
          registrar.hear(new SessionRelease(DEVICE, EPOCH, ""));
        };

    assertThat(claimed(FormerSession.RESUME))
        .containsExactly(
            new Claim.Taken(EPOCH + 1, Optional.of(new RememberedSession(AT_ONE, EPOCH))));
  }

  @Test
  void the_release_of_an_absent_device_is_confirmed_at_once() {
    var other = device("other");

    registrar.hear(new Takeover(other, new SessionOwner(new NodeId("b"), EPOCH)));

    assertThat(directory.commands)
        .containsExactly(
            new Command.ConfirmRelease(other, new SessionOwner(new NodeId("b"), EPOCH), ""));
  }

  @Test
  void a_claim_behind_a_waiting_claim_of_this_node_waits_with_it() {
    var first = claimed(FormerSession.RESUME);
    directory.claimed =
        new Answer.Claimed(
            EPOCH + 2,
            Optional.of(new SessionOwner(new NodeId("a"), EPOCH + 1)),
            false,
            Optional.empty());
    var second = new ArrayList<Claim>();
    registrar.claim(DEVICE, FormerSession.RESUME, ENDS, new QuietClient().loop(), second::add);
    assertThat(second).isEmpty();

    registrar.hear(new SessionRelease(DEVICE, EPOCH, "1,0"));

    var remembered = Optional.of(new RememberedSession(AT_ONE, EPOCH));
    assertThat(first).containsExactly(new Claim.Taken(EPOCH + 1, remembered));
    assertThat(second).containsExactly(new Claim.Taken(EPOCH + 2, remembered));
  }

  @Test
  void a_claim_that_is_older_than_this_nodes_claim_is_answered_at_once() {
    var other = device("other");
    var before = new SessionOwner(new NodeId("b"), EPOCH);
    directory.whileClaiming =
        () -> {
          directory.whileClaiming = () -> {};
          registrar.hear(new Takeover(other, before));
        };
    directory.claimed = new Answer.Claimed(EPOCH + 1, Optional.of(before), true, Optional.empty());

    registrar.claim(other, FormerSession.RESUME, ENDS, new QuietClient().loop(), _ -> {});

    assertThat(directory.commands)
        .containsExactly(
            new Command.Claim(other, FormerSession.RESUME, ENDS),
            new Command.ConfirmRelease(other, before, ""));
  }

  @Test
  void a_waiting_claim_makes_the_next_nodes_claim_wait() {
    var other = device("other");
    var next = new SessionOwner(new NodeId("c"), EPOCH + 5);
    directory.claimed =
        new Answer.Claimed(
            EPOCH + 1,
            Optional.of(new SessionOwner(new NodeId("b"), EPOCH)),
            true,
            Optional.empty());
    registrar.claim(other, FormerSession.RESUME, ENDS, new QuietClient().loop(), _ -> {});
    registrar.hear(new Takeover(other, next));
    registrar.hear(new SessionRelease(other, EPOCH, "1,0"));
    assertThat(directory.commands).doesNotHaveAnyElementsOfTypes(Command.ConfirmRelease.class);

    assertThat(registrar.arrived(other, EPOCH + 1)).isFalse();

    assertThat(directory.commands).last().isEqualTo(new Command.ConfirmRelease(other, next, ""));
  }

  @Test
  void the_end_of_a_session_answers_the_claim_that_took_it() {
    var claimant = new SessionOwner(new NodeId("b"), EPOCH + 3);
    registrar.hear(new Takeover(DEVICE, claimant));
    assertThat(session.isLost()).isTrue();
    assertThat(directory.commands).isEmpty();
    table.remove(session);

    registrar.release(session, 3_600);

    assertThat(directory.commands)
        .containsExactly(
            new Command.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS),
            new Command.ConfirmRelease(DEVICE, claimant, "1,0"));
  }

  @Test
  void confirmations_leave_half_of_the_queue_to_connects_and_are_not_kept() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    for (int n = 0; n < 200; n++) {
      slow.hear(new Takeover(device("gone-" + n), new SessionOwner(new NodeId("b"), EPOCH)));
    }

    assertThat(
            slow.claim(
                device("new"), FormerSession.FORGET, ENDS, new QuietClient().loop(), _ -> {}))
        .isTrue();
    while (!sender.isEmpty()) {
      sender.remove().run();
    }
    assertThat(directory.commands).hasSize(51);
    assertThat(slow.pause()).as("nothing is pending").isEqualTo(registrar.pause());
  }

  @Test
  void the_release_of_an_arriving_device_is_not_confirmed_yet() {
    var other = device("other");
    directory.whileClaiming =
        () -> registrar.hear(new Takeover(other, new SessionOwner(new NodeId("b"), EPOCH)));

    registrar.claim(other, FormerSession.RESUME, ENDS, new QuietClient().loop(), _ -> {});

    assertThat(directory.commands)
        .containsExactly(new Command.Claim(other, FormerSession.RESUME, ENDS));
  }

  @Test
  void a_device_that_connects_while_the_directory_returns_is_announced() {
    registrar.away(new DirectoryUnavailable("away", null));
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
    slow.away(new DirectoryUnavailable("away", null));
    sender.remove().run();
    slow.remember(session);
    slow.compareNext(slow.pause());
    session.prove();

    slow.remember(session);
    sender.remove().run();

    assertThat(directory.commands)
        .containsExactly(new Command.Remember(DEVICE, EPOCH, AT_ONE, ENDS));
  }

  /// Otherwise a million devices would each ask every two seconds.
  @Test
  void no_inbox_is_read_while_mysql_is_away_and_all_are_checked_afterwards() {
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
    assertThat(asking.times).as("each inbox is read").isEqualTo(all.size());

    registrar.compareNext(registrar.pause());
    assertThat(asking.times).as("once").isEqualTo(all.size());
  }

  @Test
  void an_inbox_that_is_missed_while_all_are_checked_is_checked_again() {
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
  void an_end_during_an_outage_is_sent_once_the_directory_is_back() {
    table.remove(session);
    registrar.away(new DirectoryUnavailable("away", null));
    registrar.release(session, 3_600);
    assertThat(directory.commands).isEmpty();

    registrar.compareNext(registrar.pause());
    registrar.compareNext(registrar.pause());

    assertThat(directory.commands)
        .containsExactly(new Command.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  @Test
  void pending_releases_are_sent_before_a_node_leaves() {
    table.remove(session);
    registrar.away(new DirectoryUnavailable("away", null));
    registrar.release(session, 3_600);
    registrar.compareAll();
    assertThat(directory.commands).isEmpty();

    registrar.close();

    assertThat(directory.commands)
        .containsExactly(new Command.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  @Test
  void an_end_in_a_failed_round_trip_is_sent_again() {
    table.remove(session);
    directory.isAway = true;
    registrar.release(session, 3_600);
    assertThat(registrar.isReachable()).isFalse();

    directory.isAway = false;
    registrar.compareNext(registrar.pause());

    assertThat(directory.commands)
        .containsExactly(new Command.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  /// A gateway's frame arrives for a device that has just left.
  @Test
  void a_release_that_became_pending_during_the_pause_does_not_shrink_the_round() {
    known(1_199, new AsksForParked());
    var pause = registrar.pause();
    assertThat(pause).isEqualTo(Duration.ofSeconds(5));
    registrar.absent(device("gone"), EPOCH);

    registrar.compareNext(pause);

    assertThat(directory.asked).as("1,200 in five minutes").hasSize(20);
  }

  /// As when 100,000 connections are reset at once.
  @Test
  void ends_that_found_the_queue_full_are_sent_when_there_is_room() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    var all = IntStream.range(0, 1_000).mapToObj(n -> session(device("a" + n))).toList();
    all.forEach(each -> {
      table.remove(each);
      slow.release(each, 3_600);
    });
    assertThat(slow.pause()).as("2,000 at most in each").isEqualTo(Duration.ofMillis(200));

    for (int round = 0; round < 1_000 && directory.commands.size() < all.size(); round++) {
      while (!sender.isEmpty()) {
        sender.remove().run();
      }
      slow.compareNext(slow.pause());
    }

    assertThat(directory.commands)
        .extracting(Command::device)
        .containsExactlyInAnyOrderElementsOf(all.stream().map(DeviceSession::key).toList());
    assertThat(slow.pause()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void a_pending_end_is_dropped_when_the_device_has_come_back() {
    table.remove(session);
    registrar.away(new DirectoryUnavailable("away", null));
    registrar.release(session, 3_600);
    registrar.claim(DEVICE, FormerSession.RESUME, ENDS, new QuietClient().loop(), _ -> {});

    registrar.compareNext(registrar.pause());

    assertThat(directory.commands).isEmpty();
  }

  @Test
  void a_device_that_the_directory_wrongly_has_here_is_released() {
    registrar.absent(DEVICE, EPOCH);
    registrar.absent(device("gone"), EPOCH);

    registrar.compareNext(registrar.pause());

    assertThat(directory.commands).containsExactly(new Command.Release(device("gone"), EPOCH));
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

  private double count(String meter) {
    return meters.get(meter).counter().count();
  }

  @Test
  void a_denial_ends_the_session_unless_its_password_is_newer() {
    registrar.hear(new Denial(DEVICE, EPOCH, ENDS - 1));
    assertThat(session.isLost()).isFalse();
    assertThat(directory.asked).containsExactly(DEVICE);

    registrar.hear(new Denial(DEVICE, EPOCH, ENDS));

    assertThat(session.isLost()).isTrue();
    assertThat(count("cm.session.denied")).isOne();
  }

  @Test
  void a_device_that_is_deleted_while_it_arrives_does_not_arrive() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    for (var id : List.of("early", "late")) {
      slow.claim(device(id), FormerSession.FORGET, ENDS, new QuietClient().loop(), _ -> {});
      slow.hear(new Denial(device(id), EPOCH, ENDS));
    }

    assertThat(slow.arrived(device("early"), EPOCH)).isFalse();
    assertThat(slow.arrived(device("late"), EPOCH + 1)).as("claimed since").isTrue();
  }

  @Test
  void a_handover_ends_the_session_and_leaves_nothing_of_it() {
    registrar.hear(new Handover(DEVICE, EPOCH - 1));
    assertThat(session.isLost()).as("claimed since, and begun anew").isFalse();

    registrar.hear(new Handover(DEVICE, EPOCH));

    assertThat(session.isLost()).isTrue();
    assertThat(session.isDenied()).isFalse();
    assertThat(session.terms().expirySeconds()).isZero();
    assertThat(count("cm.session.handed.over")).isOne();
    assertThat(count("cm.session.fenced")).isZero();
  }

  @Test
  void a_device_that_gets_another_user_while_it_arrives_is_refused() {
    registrar.claim(device("early"), FormerSession.RESUME, ENDS, new QuietClient().loop(), _ -> {});

    registrar.hear(new Handover(device("early"), EPOCH));

    assertThat(registrar.arrived(device("early"), EPOCH)).isFalse();
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

  @Test
  void a_denied_claim_does_not_drop_the_pending_end_of_the_device() {
    table.remove(session);
    registrar.away(new DirectoryUnavailable("away", null));
    registrar.release(session, 3_600);
    registrar.compareAll();
    directory.claimed = new Answer.Denied();
    var claims = new ArrayList<Claim>();

    registrar.claim(DEVICE, FormerSession.RESUME, ENDS, new QuietClient().loop(), claims::add);
    registrar.compareNext(registrar.pause());

    assertThat(claims).containsExactly(new Claim.Denied());
    assertThat(registrar.arriving()).isZero();
    assertThat(directory.commands)
        .containsExactly(
            new Command.Claim(DEVICE, FormerSession.RESUME, ENDS),
            new Command.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  /// The later connection is gone, and its end has removed the entry in the directory.
  @Test
  void a_connection_is_refused_behind_a_later_one_that_is_gone() {
    var device = device("new");
    var first = claimed(device, EPOCH + 1);
    var second = claimed(device, EPOCH + 2);

    registrar.abandon(device, second, 0, ENDS);

    assertThat(directory.commands).contains(new Command.Release(device, EPOCH + 2));
    assertThat(registrar.arrived(device, first.epoch())).isFalse();
  }

  @Test
  void a_connection_is_refused_behind_a_later_unanswered_claim() {
    var device = device("new");
    var first = claimed(device, clock.millis() + 7);
    directory.claimed = new Answer.Failed("out of memory");
    var claims = new ArrayList<Claim>();
    registrar.claim(device, FormerSession.FORGET, ENDS, new QuietClient().loop(), claims::add);
    registrar.claim(device, FormerSession.FORGET, ENDS, new QuietClient().loop(), claims::add);

    assertThat(claims)
        .extracting(claim -> ((Claim.Taken) claim).epoch())
        .containsExactly(first.epoch() + 1, first.epoch() + 2);
    assertThat(registrar.arrived(device, first.epoch())).isFalse();
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

  /// Claims the device for another connection, which gets this epoch.
  private Claim.Taken claimed(DeviceKey device, long epoch) {
    directory.claimed = new Answer.Claimed(epoch, Optional.empty(), false, Optional.empty());
    var claims = new ArrayList<Claim>();
    registrar.claim(device, FormerSession.FORGET, ENDS, new QuietClient().loop(), claims::add);
    return (Claim.Taken) claims.getFirst();
  }

  @Test
  void a_device_that_is_arriving_is_not_released() {
    var sender = new ArrayDeque<Runnable>();
    var slow = registrar(Runnable::run, sender::add);
    slow.claim(device("new"), FormerSession.FORGET, ENDS, new QuietClient().loop(), _ -> {});

    slow.absent(device("new"), EPOCH);
    slow.compareNext(slow.pause());
    sender.forEach(Runnable::run);

    assertThat(directory.commands)
        .containsExactly(new Command.Claim(device("new"), FormerSession.FORGET, ENDS));
  }

  /// As many sessions, which the directory knows.
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

  private List<Claim> claimed(FormerSession wish) {
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

  /// Knows no owner at first, and accepts every announcement.
  private static final class Asked implements Directory {
    private final List<Command> commands = new ArrayList<>();
    private final List<Map<DeviceKey, Announced>> announced = new ArrayList<>();
    private Runnable meanwhile = () -> {};
    private Runnable whileClaiming = () -> {};
    private Optional<RememberedSession> remembered = Optional.empty();
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
    public List<Answer> execute(List<Command> some) {
      if (isAway) {
        throw new DirectoryUnavailable("away", null);
      }
      commands.addAll(some);
      whileClaiming.run();
      return some.stream()
          .map(command -> command instanceof Command.Claim ? claimed : new Answer.Done())
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
