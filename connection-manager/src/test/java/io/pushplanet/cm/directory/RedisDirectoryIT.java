package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.pushplanet.cm.directory.Directory.Announced;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.directory.Directory.RememberedSession;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.Denials;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.session.Fencing.Tenure;
import io.pushplanet.common.session.LastSeen;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionNotice;
import io.pushplanet.common.session.SessionNotices;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.Signals;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Service;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The scripts behave as the simulator's stores do.
class RedisDirectoryIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long ENDS = 2_000_000_000;
  private static final Subscription AT_ONE = Subscription.of(QoS.AT_LEAST_ONCE, 7);

  private final RedisClient client =
      RedisClient.create(LocalServices.forTests().redis().toString());
  private final RedisLink link = RedisLink.open(client);
  private final MutableClock clock = MutableClock.started();
  private final SessionDirectory known = new SessionDirectory(link, clock);
  private final String unique = UUID.randomUUID().toString();
  private final NodeId nodeA = new NodeId("a-" + unique);
  private final NodeId nodeB = new NodeId("b-" + unique);
  private final RedisDirectory a = new RedisDirectory(link, known, nodeA, clock);
  private final RedisDirectory b = new RedisDirectory(link, known, nodeB, clock);

  @AfterEach
  void close() {
    link.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  @Test
  void many_devices_are_claimed_in_one_step_and_each_former_owner_is_told() throws Exception {
    try (var heard = new Heard(nodeA)) {
      var devices = IntStream.range(0, 300).mapToObj(this::device).toList();
      var first = epochs(a.execute(claims(devices, FormerSession.FORGET)));

      var second = epochs(b.execute(claims(devices, FormerSession.FORGET)));

      assertThat(first).hasSize(300).doesNotContain(0L);
      for (int index = 0; index < 300; index++) {
        assertThat(second.get(index)).isGreaterThan(first.get(index));
        var notice = heard.next();
        assertThat(notice)
            .isEqualTo(
                new SessionNotice.Takeover(
                    devices.get(index), new SessionOwner(nodeB, second.get(index))));
      }
      assertThat(known.owners(devices))
          .hasSize(300)
          .containsEntry(devices.get(5), new SessionOwner(nodeB, second.get(5)));
      assertThat(heard.notices).isEmpty();
    }
  }

  @Test
  void the_claim_itself_tells_the_former_owner() throws Exception {
    try (var heard = new Heard(nodeA)) {
      var first = claim(a, FormerSession.FORGET);
      var again = claim(a, FormerSession.FORGET);

      var taken = claim(b, FormerSession.FORGET);

      assertThat(first.former()).isEmpty();
      assertThat(again.former()).contains(new SessionOwner(nodeA, first.epoch()));
      assertThat(taken.former()).contains(new SessionOwner(nodeA, again.epoch()));
      assertThat(heard.next())
          .isEqualTo(new SessionNotice.Takeover(device(1), new SessionOwner(nodeB, taken.epoch())));
      assertThat(heard.notices).isEmpty();
    }
  }

  @Test
  void an_announcement_tells_the_former_owner_too() throws Exception {
    try (var heard = new Heard(nodeA)) {
      long epoch = claim(a, FormerSession.FORGET).epoch();

      announce(b, Map.of(device(1), epoch));
      announce(b, Map.of(device(1), epoch + 1));

      assertThat(heard.next())
          .isEqualTo(new SessionNotice.Takeover(device(1), new SessionOwner(nodeB, epoch + 1)));
      assertThat(heard.notices).isEmpty();
    }
  }

  @Test
  void after_a_loss_of_redis_nodes_announce_and_the_newest_session_wins() {
    long first = claim(a, FormerSession.FORGET).epoch();
    clock.advance(Duration.ofSeconds(1));
    long second = claim(b, FormerSession.FORGET).epoch();
    link.connection().sync().del(SessionDirectory.key(device(1)));

    announce(b, Map.of(device(1), second));
    var toldToA = announce(a, Map.of(device(1), first));

    assertThat(toldToA).containsEntry(device(1), new SessionOwner(nodeB, second));
    assertThat(known.owner(device(1))).contains(new SessionOwner(nodeB, second));
  }

  @Test
  void an_epoch_rises_over_a_loss_of_redis() {
    long before = claim(a, FormerSession.FORGET).epoch();
    link.connection().sync().del(SessionDirectory.key(device(1)));
    clock.advance(Duration.ofMillis(1));

    assertThat(claim(b, FormerSession.FORGET).epoch()).isGreaterThan(before);
  }

  @Test
  void a_script_that_redis_has_forgotten_is_sent_again() {
    long first = claim(a, FormerSession.FORGET).epoch();
    link.ask(RedisAsyncCommands::scriptFlush);

    long second = claim(b, FormerSession.FORGET).epoch();

    assertThat(second).isGreaterThan(first);
    assertThat(known.owner(device(1))).contains(new SessionOwner(nodeB, second));
  }

  @Test
  void the_same_device_twice_in_one_step_gets_a_higher_epoch_the_second_time() {
    var twice = claims(List.of(device(1), device(1)), FormerSession.FORGET);

    var epochs = epochs(a.execute(twice));

    assertThat(epochs.get(1)).isGreaterThan(epochs.get(0));
    assertThat(known.owner(device(1))).contains(new SessionOwner(nodeA, epochs.get(1)));
  }

  @Test
  void a_connecting_device_is_reported_to_dispatchers_once_a_day() {
    var commands = link.connection().sync();
    String field = "shop/" + unique + "-1";
    long first = clock.millis();
    claim(a, FormerSession.RESUME);
    assertThat(commands.hget(LastSeen.PENDING, field)).isEqualTo(first + "\n\n\n");

    commands.hdel(LastSeen.PENDING, field);
    claim(b, FormerSession.RESUME);
    assertThat(commands.hget(LastSeen.PENDING, field)).isNull();

    clock.advance(Duration.ofDays(1));
    long next = clock.millis();
    commands.hset(LastSeen.PENDING, "shop/" + unique + "-2", "what a device told");
    claim(a, FormerSession.RESUME);
    a.execute(claims(List.of(device(2)), FormerSession.RESUME));
    assertThat(commands.hget(LastSeen.PENDING, field)).isEqualTo(next + "\n\n\n");
    assertThat(commands.hget(LastSeen.PENDING, "shop/" + unique + "-2"))
        .isEqualTo("what a device told");
  }

  @Test
  void a_claim_returns_the_former_owner_and_the_subscription() {
    long first = claim(a, FormerSession.RESUME).epoch();
    remember(a, first);

    var taken = claim(b, FormerSession.RESUME);
    var again = claim(b, FormerSession.RESUME);

    assertThat(taken.former()).contains(new SessionOwner(nodeA, first));
    assertThat(taken.remembered()).contains(new RememberedSession(AT_ONE, first));
    assertThat(again.remembered())
        .as("marked by who took it up")
        .contains(new RememberedSession(AT_ONE, taken.epoch()));
  }

  @Test
  void a_session_that_is_resumed_once_or_discarded_is_forgotten() {
    for (var wish : List.of(FormerSession.FORGET, FormerSession.RESUME_ONCE)) {
      long epoch = claim(a, FormerSession.RESUME).epoch();
      remember(a, epoch);

      assertThat(claim(a, wish).remembered())
          .isEqualTo(
              wish == FormerSession.FORGET
                  ? Optional.empty()
                  : Optional.of(new RememberedSession(AT_ONE, epoch)));
      assertThat(claim(a, FormerSession.RESUME).remembered()).isEmpty();
    }
  }

  @Test
  void a_write_of_a_former_owner_has_no_effect() {
    long former = claim(a, FormerSession.RESUME).epoch();
    long owner = claim(b, FormerSession.RESUME).epoch();
    remember(b, owner);

    var late =
        a.execute(
            List.of(
                new Command.Remember(device(1), former, Subscription.of(QoS.AT_MOST_ONCE, 1), ENDS),
                new Command.Forget(device(1), former, ENDS),
                new Command.Release(device(1), former),
                new Command.End(device(1), former, 3_600, null, ENDS)));

    assertThat(late).hasSize(4).containsOnly(new Answer.Done());
    assertThat(known.owner(device(1))).contains(new SessionOwner(nodeB, owner));
    assertThat(claim(b, FormerSession.RESUME).remembered())
        .contains(new RememberedSession(AT_ONE, owner));
  }

  /// The node took the device over while Redis was away, under an epoch that Redis does not know.
  @Test
  void the_end_of_a_connection_releases_an_older_one_of_the_same_node() {
    long former = claim(a, FormerSession.RESUME).epoch();
    end(b, former + 1_000, 3_600, AT_ONE);
    assertThat(known.owner(device(1))).as("another node").contains(new SessionOwner(nodeA, former));

    end(a, former + 1_000, 3_600, AT_ONE);

    assertThat(known.owner(device(1))).isEmpty();
  }

  /// The end is sent late, after the claim of the device's next connection to that node.
  @Test
  void the_end_of_a_connection_releases_no_newer_one_of_the_same_node() {
    long former = claim(a, FormerSession.RESUME).epoch();
    long owner = claim(a, FormerSession.RESUME).epoch();

    a.execute(
        List.of(
            new Command.End(device(1), former, 3_600, AT_ONE, ENDS),
            new Command.Release(device(1), former)));

    assertThat(known.owner(device(1))).contains(new SessionOwner(nodeA, owner));
  }

  @Test
  void a_session_outlives_its_connection_for_its_expiry() {
    long epoch = claim(a, FormerSession.RESUME).epoch();
    a.execute(
        List.of(
            new Command.Remember(device(1), epoch, AT_ONE, ENDS),
            new Command.End(device(1), epoch, 3_600, AT_ONE, ENDS)));

    assertThat(known.owner(device(1))).isEmpty();
    assertThat(link.connection().sync().ttl(kept(1))).isBetween(3_000L, 3_600L);

    long next = claim(a, FormerSession.RESUME).epoch();
    end(a, next, 0, AT_ONE);
    assertThat(link.connection().sync().exists(kept(1))).isZero();
  }

  @Test
  void unacknowledged_messages_are_told_to_the_next_connection_only() {
    long epoch = claim(a, FormerSession.RESUME).epoch();
    var sent = List.of(message(1), message(2));
    a.execute(
        List.of(
            new Command.Remember(device(1), epoch, AT_ONE, ENDS),
            new Command.End(device(1), epoch, 3_600, AT_ONE, ENDS, sent)));
    assertThat(link.connection().sync().ttl(kept(1) + "|unacknowledged")).isBetween(3_000L, 3_600L);
    assertThat(link.connection().sync().get(kept(1)))
        .as("what nodes of an earlier version read")
        .isEqualTo("1,7," + epoch);

    var next = claim(b, FormerSession.RESUME);
    assertThat(next.remembered()).contains(new RememberedSession(AT_ONE, epoch, sent));
    assertThat(link.connection().sync().exists(kept(1) + "|unacknowledged")).isZero();
    assertThat(claim(a, FormerSession.RESUME).remembered())
        .contains(new RememberedSession(AT_ONE, next.epoch()));
  }

  /// A node of an earlier version leaves them in Redis when it resumes the session.
  @Test
  void unacknowledged_messages_of_an_earlier_connection_are_told_to_nobody() {
    long epoch = claim(a, FormerSession.RESUME).epoch();
    a.execute(
        List.of(
            new Command.Remember(device(1), epoch, AT_ONE, ENDS),
            new Command.End(device(1), epoch, 3_600, AT_ONE, ENDS, List.of(message(1)))));
    link.connection().sync().set(kept(1), "1,7," + (epoch + 5));

    assertThat(claim(b, FormerSession.RESUME).remembered())
        .contains(new RememberedSession(AT_ONE, epoch + 5));
  }

  @Test
  void a_former_owner_tells_what_it_has_sent_in_a_form_of_its_own() throws Exception {
    try (var told = new Heard(nodeB)) {
      long former = claim(a, FormerSession.RESUME).epoch();
      long owner = claim(b, FormerSession.RESUME).epoch();
      var sent = List.of(message(1), message(2));

      a.execute(
          List.of(
              new Command.ConfirmRelease(
                  device(1),
                  new SessionOwner(nodeB, owner),
                  Optional.of(new RememberedSession(AT_ONE, former, sent)))));

      assertThat(told.next())
          .isEqualTo(new SessionNotice.SessionRelease(device(1), owner - 1, "1,7", sent));
      assertThat(told.next())
          .as("for nodes of an earlier version")
          .isEqualTo(new SessionNotice.SessionRelease(device(1), owner - 1, "1,7"));
    }
  }

  private static MessageId message(int number) {
    return new MessageId("0190b8a0-0000-7000-8000-00000000000" + number);
  }

  @Test
  void a_session_without_a_subscription_is_remembered_from_one_connection_to_the_next() {
    long epoch = claim(a, FormerSession.RESUME).epoch();
    end(a, epoch, 3_600, null);
    assertThat(link.connection().sync().ttl(kept(1))).isBetween(3_000L, 3_600L);

    assertThat(claim(b, FormerSession.RESUME).remembered())
        .contains(new RememberedSession(null, epoch));
    assertThat(claim(a, FormerSession.RESUME).remembered())
        .as("whether the connection in between has subscribed is not known")
        .isEmpty();
  }

  @Test
  void the_end_of_a_connection_does_not_restore_a_lost_session() {
    long epoch = claim(a, FormerSession.RESUME).epoch();
    remember(a, epoch);
    link.connection().sync().del(kept(1));

    end(a, epoch, 3_600, AT_ONE);

    assertThat(claim(b, FormerSession.RESUME).remembered()).isEmpty();
  }

  @Test
  void a_former_owner_cannot_write_that_there_is_no_subscription() {
    long former = claim(a, FormerSession.RESUME).epoch();
    long owner = claim(b, FormerSession.RESUME).epoch();

    end(a, former, 3_600, null);
    b.execute(List.of(new Command.Release(device(1), owner)));
    assertThat(known.owner(device(1))).isEmpty();
    end(a, former, 3_600, null);

    assertThat(claim(b, FormerSession.RESUME).remembered()).isEmpty();
  }

  @Test
  void a_former_owner_confirms_the_release_and_describes_the_session() throws Exception {
    try (var told = new Heard(nodeB)) {
      long former = claim(a, FormerSession.RESUME).epoch();
      long owner = claim(b, FormerSession.RESUME).epoch();
      var claimant = new SessionOwner(nodeB, owner);
      var described = new RememberedSession(AT_ONE, former);

      a.execute(
          List.of(
              new Command.End(device(1), former, 3_600, null, ENDS),
              new Command.End(device(1), former, 3_600, AT_ONE, ENDS),
              new Command.End(device(1), former, 0, AT_ONE, ENDS)));
      remember(b, owner);
      a.execute(
          List.of(
              new Command.End(device(1), former, 3_600, AT_ONE, ENDS),
              new Command.ConfirmRelease(device(1), claimant, Optional.of(described)),
              new Command.ConfirmRelease(device(1), claimant, Optional.empty())));
      end(b, owner, 3_600, AT_ONE);

      assertThat(told.next()).isEqualTo(new SessionNotice.SessionRelease(device(1), former, "3,0"));
      assertThat(told.next()).isEqualTo(new SessionNotice.SessionRelease(device(1), former, "1,7"));
      assertThat(told.next())
          .as("nothing to go on with")
          .isEqualTo(new SessionNotice.SessionRelease(device(1), former, ""));
      for (var session : List.of("1,7", "")) {
        assertThat(told.next())
            .as("who asked is told in any case")
            .isEqualTo(new SessionNotice.SessionRelease(device(1), owner - 1, session));
      }
      a.execute(claims(List.of(device(1)), FormerSession.RESUME));
      assertThat(told.notices).isEmpty();
    }
  }

  @Test
  void a_claim_returns_whether_the_former_owner_received_it() throws Exception {
    assertThat(claim(b, FormerSession.RESUME).heard()).as("nobody had it").isFalse();
    assertThat(claim(a, FormerSession.RESUME).heard()).as("who had it is dead").isFalse();
    claim(b, FormerSession.RESUME);
    try (var _ = new Heard(nodeB)) {
      assertThat(claim(b, FormerSession.RESUME).heard()).as("it had it itself").isFalse();
      assertThat(claim(a, FormerSession.RESUME).heard()).isTrue();
    }
  }

  @Test
  void a_session_resumed_elsewhere_since_cannot_be_announced() {
    long stale = claim(a, FormerSession.RESUME).epoch();
    remember(a, stale);
    long last = claim(b, FormerSession.RESUME).epoch();
    end(b, last, 3_600, AT_ONE);

    var owner = announce(a, Map.of(device(1), stale)).get(device(1));

    assertThat(owner).isNotNull();
    assertThat(Fencing.judge(nodeA, stale, owner)).isEqualTo(new Tenure.Lost(owner));
    assertThat(owner.epoch()).isEqualTo(last);
    assertThat(known.owner(device(1))).isEmpty();
    assertThat(claim(a, FormerSession.RESUME).remembered())
        .contains(new RememberedSession(AT_ONE, last));
  }

  @Test
  void a_session_from_a_node_whose_clock_is_ahead_can_be_resumed() {
    clock.advance(Duration.ofMinutes(1));
    long ahead = claim(a, FormerSession.RESUME).epoch();
    a.execute(
        List.of(
            new Command.Remember(device(1), ahead, AT_ONE, ENDS),
            new Command.End(device(1), ahead, 3_600, AT_ONE, ENDS)));
    clock.advance(Duration.ofMinutes(-1));

    var taken = claim(b, FormerSession.RESUME);

    assertThat(taken.remembered()).contains(new RememberedSession(AT_ONE, ahead));
    assertThat(taken.epoch()).isEqualTo(ahead + 1);
  }

  @Test
  void the_announcement_of_an_old_session_returns_the_present_owner() {
    long stale = claim(a, FormerSession.RESUME).epoch();
    long owner = claim(b, FormerSession.RESUME).epoch();
    remember(b, owner);

    assertThat(announce(a, Map.of(device(1), stale, device(2), 7L)))
        .isEqualTo(
            Map.of(
                device(1), new SessionOwner(nodeB, owner), device(2), new SessionOwner(nodeA, 7L)));
  }

  @Test
  void an_announcement_deletes_an_older_remembered_session() {
    long former = claim(a, FormerSession.RESUME).epoch();
    remember(a, former);

    var owners = announce(b, Map.of(device(1), former + 1_000));

    assertThat(owners).containsEntry(device(1), new SessionOwner(nodeB, former + 1_000));
    assertThat(claim(a, FormerSession.RESUME).remembered()).isEmpty();
  }

  @Test
  void a_key_with_rubbish_affects_neither_its_device_nor_its_neighbours() {
    var redis = link.connection().sync();
    redis.rpush("session:shop/" + unique + "-1", "a list");
    redis.set("session:shop/" + unique + "-2", "not an owner");
    redis.rpush(kept(3), "a list");
    redis.set(kept(4), "not a subscription");
    var devices = IntStream.range(0, 6).mapToObj(this::device).toList();

    var answers = a.execute(claims(devices, FormerSession.RESUME));

    assertThat(epochs(answers)).hasSize(6).doesNotContain(0L);
    assertThat(known.owners(devices)).hasSize(6);
    redis.del("session:shop/" + unique + "-1");
    redis.rpush("session:shop/" + unique + "-1", "a list");
    assertThat(announce(a, Map.of(device(1), 7L, device(0), 7L)))
        .containsEntry(device(1), new SessionOwner(nodeA, 7))
        .containsKey(device(0));
  }

  @Test
  void a_call_to_a_slow_redis_ends_at_its_deadline_and_redis_is_used_again() throws Exception {
    long pid = LocalServices.forTests().process(Service.REDIS).pid();
    Signals.stop(pid);
    try {
      assertThatThrownBy(() -> claim(a, FormerSession.FORGET)).isInstanceOf(RedisUnavailable.class);
    } finally {
      Signals.resume(pid);
    }

    Eventually.within(
        PATIENCE, () -> assertThat(claim(a, FormerSession.FORGET).epoch()).isPositive());
  }

  @Test
  void a_redis_without_memory_fails_each_command_by_itself() {
    var redis = link.connection().sync();
    claim(a, FormerSession.FORGET);
    var before = redis.configGet("maxmemory").get("maxmemory");
    redis.configSet("maxmemory", "1");
    try {
      assertThat(a.execute(claims(List.of(device(2), device(3)), FormerSession.FORGET)))
          .hasSize(2)
          .allSatisfy(answer -> assertThat(answer).isInstanceOf(Answer.Failed.class));
    } finally {
      redis.configSet("maxmemory", before);
    }
    assertThat(claim(a, FormerSession.FORGET).epoch()).isPositive();
  }

  @Test
  void a_replica_refuses_commands_as_it_refuses_others() {
    var redis = link.connection().sync();
    var claims = claims(List.of(device(1)), FormerSession.FORGET);
    // Nothing listens there.
    redis.replicaof("127.0.0.1", 1);
    try {
      assertThatThrownBy(() -> a.execute(claims))
          .isInstanceOf(RedisUnavailable.class)
          .hasMessageContaining("READONLY");
    } finally {
      redis.replicaofNoOne();
    }
    assertThat(claim(a, FormerSession.FORGET).epoch()).isPositive();
  }

  @Test
  void a_heartbeat_returns_whether_the_directory_still_knew_the_node() {
    var lease = new NodeLease(nodeA, "127.0.0.1", 1884, 1883, 9083, 7, false, clock.instant());

    assertThat(known.heartbeat(lease)).isFalse();
    assertThat(known.heartbeat(lease)).isTrue();
    known.leave(nodeA);
    assertThat(known.heartbeat(lease)).isFalse();
    known.leave(nodeA);
  }

  @Test
  void a_denied_password_claims_nothing_and_a_newer_one_does() {
    var later = claim(a, FormerSession.RESUME);
    remember(a, later.epoch());
    link.connection().sync().set("denied:shop/" + unique + "-1", Long.toString(ENDS - 1));

    var answers =
        b.execute(
            List.of(
                new Command.Claim(device(1), FormerSession.FORGET, ENDS - 1),
                new Command.Claim(device(2), FormerSession.FORGET, ENDS - 1),
                new Command.Claim(device(1), FormerSession.FORGET, ENDS - 2)));

    assertThat(answers.getFirst()).isEqualTo(new Answer.Denied());
    assertThat(answers.get(1)).isInstanceOf(Answer.Claimed.class);
    assertThat(answers.getLast()).isEqualTo(new Answer.Denied());
    assertThat(known.owner(device(1))).contains(new SessionOwner(nodeA, later.epoch()));
    assertThat(claim(b, FormerSession.RESUME).remembered())
        .contains(new RememberedSession(AT_ONE, later.epoch()));
  }

  @Test
  void a_denial_removes_the_owner_and_tells_its_node_once() throws Exception {
    try (var heard = new Heard(nodeA)) {
      long epoch = claim(a, FormerSession.RESUME).epoch();
      remember(a, epoch);
      var denials = new Denials(link, clock);

      denials.deny(device(1), ENDS);
      long again = claimed(new Command.Claim(device(1), FormerSession.RESUME, ENDS + 1)).epoch();
      denials.deny(device(1), ENDS);
      denials.deny(device(1), ENDS - 1);

      assertThat(heard.next()).isEqualTo(new SessionNotice.Denial(device(1), epoch, ENDS));
      assertThat(deniedUntil(1)).isEqualTo(Long.toString(ENDS));
      assertThat(deniedUntil(2)).isNull();
      assertThat(known.owner(device(1)))
          .as("told again it changes nothing")
          .contains(new SessionOwner(nodeA, again));
      assertThat(heard.notices).isEmpty();
    }
  }

  @Test
  void the_denied_ones_of_many_passwords_are_returned() {
    var denials = new Denials(link, clock);
    denials.deny(device(1), ENDS);
    denials.deny(device(2), ENDS);

    assertThat(a.denied(Map.of(device(1), ENDS, device(2), ENDS + 1, device(3), ENDS)))
        .containsExactly(device(1));
    assertThat(a.denied(Map.of())).isEmpty();
  }

  @Test
  void a_repeated_denial_tells_the_node_or_removes_an_owner_that_does_not_listen()
      throws Exception {
    try (var heard = new Heard(nodeA)) {
      long epoch = claimed(new Command.Claim(device(1), FormerSession.RESUME, ENDS + 1)).epoch();

      new Denials(link, clock).remind(device(1), ENDS);

      assertThat(heard.next()).isEqualTo(new SessionNotice.Denial(device(1), epoch, ENDS));
      assertThat(deniedUntil(1)).isEqualTo(Long.toString(ENDS));
      assertThat(known.owner(device(1))).contains(new SessionOwner(nodeA, epoch));
    }
    b.execute(List.of(new Command.Claim(device(2), FormerSession.RESUME, ENDS + 1)));

    new Denials(link, clock).remind(device(2), ENDS);

    assertThat(deniedUntil(2)).isEqualTo(Long.toString(ENDS));
    assertThat(known.owner(device(2))).isEmpty();
  }

  /// Redis does not undo the writes that a script made before one was refused.
  @Test
  void a_denial_that_redis_refused_half_way_is_complete_the_next_time() {
    claim(a, FormerSession.RESUME);
    var commands = link.connection().sync();
    commands.aclSetuser(
        "half", AclSetuserArgs.Builder.on().nopass().allCommands().keyPattern("*").resetChannels());
    RedisURI who =
        RedisURI.builder(RedisURI.create(LocalServices.forTests().redis().toString()))
            .withAuthentication("half", "any")
            .build();
    RedisClient other = RedisClient.create(who);
    try (RedisLink half = RedisLink.open(other)) {
      assertThatThrownBy(() -> new Denials(half, clock).deny(device(1), ENDS))
          .isInstanceOf(RedisUnavailable.class);

      assertThat(deniedUntil(1)).isNull();
    } finally {
      other.shutdown();
      commands.aclDeluser("half");
    }
  }

  private @Nullable String deniedUntil(int device) {
    return link.connection().sync().get("denied:shop/" + unique + "-" + device);
  }

  @Test
  void a_denial_is_forgotten_an_hour_after_the_last_password_ended() {
    long now = clock.instant().getEpochSecond();
    new Denials(link, clock).deny(device(1), now + 60);
    new Denials(link, clock).deny(device(2), now - 3_600);

    assertThat(link.connection().sync().ttl("denied:shop/" + unique + "-1"))
        .isBetween(3_600L, 3_660L);
    assertThat(deniedUntil(2)).isNull();
  }

  @Test
  void a_session_whose_password_is_denied_is_not_announced() {
    long epoch = claim(a, FormerSession.RESUME).epoch();
    new Denials(link, clock).deny(device(1), ENDS);

    var answer =
        a.announce(
            Map.of(
                device(1), new Announced(epoch, ENDS),
                device(2), new Announced(epoch, ENDS)));
    var later = a.announce(Map.of(device(1), new Announced(epoch + 1, ENDS + 1)));

    assertThat(answer.denied()).containsExactly(device(1));
    assertThat(answer.owners()).containsOnlyKeys(device(2));
    assertThat(later.denied()).isEmpty();
    assertThat(known.owner(device(1))).contains(new SessionOwner(nodeA, epoch + 1));
  }

  /// Node b admitted the device while Redis was away, under an epoch that it made up, and may send
  /// the end of that session late.
  @Test
  void a_session_with_a_denied_password_does_not_change_the_remembered_session() {
    long rightful = claim(a, FormerSession.RESUME).epoch();
    remember(a, rightful);
    link.connection().sync().set("denied:shop/" + unique + "-1", Long.toString(ENDS - 1));
    long made = rightful + 1_000;
    var kept = SessionText.of(AT_ONE) + "," + rightful;

    for (var order :
        List.of(
            new Command.Remember(device(1), made, Subscription.of(QoS.AT_MOST_ONCE, 9), ENDS - 1),
            new Command.Forget(device(1), made, ENDS - 1),
            new Command.End(device(1), made, 0, AT_ONE, ENDS - 1),
            new Command.End(device(1), made, 1, null, ENDS - 1))) {
      b.execute(List.of(order));

      assertThat(link.connection().sync().get(kept(1))).as(order.toString()).isEqualTo(kept);
    }
    assertThat(known.owner(device(1))).contains(new SessionOwner(nodeA, rightful));
  }

  /// The notices to a node.
  private final class Heard implements AutoCloseable {
    final LinkedBlockingQueue<SessionNotice> notices = new LinkedBlockingQueue<>();
    private final SessionNotices listener;

    Heard(NodeId node) throws InterruptedException {
      var listening = new CountDownLatch(1);
      listener = SessionNotices.listen(client, node, notices::add, listening::countDown);
      assertThat(listening.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /// @return null when none comes
    @Nullable SessionNotice next() throws InterruptedException {
      return notices.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    public void close() {
      listener.close();
    }
  }

  private void remember(RedisDirectory node, long epoch) {
    node.execute(List.of(new Command.Remember(device(1), epoch, AT_ONE, ENDS)));
  }

  private void end(
      RedisDirectory node, long epoch, long expirySeconds, @Nullable Subscription subscription) {
    node.execute(List.of(new Command.End(device(1), epoch, expirySeconds, subscription, ENDS)));
  }

  private Answer.Claimed claimed(Command.Claim order) {
    return (Answer.Claimed) a.execute(List.of(order)).getFirst();
  }

  private Answer.Claimed claim(RedisDirectory node, FormerSession wish) {
    var answer = node.execute(claims(List.of(device(1)), wish)).getFirst();
    assertThat(answer).isInstanceOf(Answer.Claimed.class);
    return (Answer.Claimed) answer;
  }

  private static Map<DeviceKey, SessionOwner> announce(
      RedisDirectory node, Map<DeviceKey, Long> epochs) {
    var sessions = new HashMap<DeviceKey, Announced>();
    epochs.forEach((device, epoch) -> sessions.put(device, new Announced(epoch, ENDS)));
    return node.announce(sessions).owners();
  }

  private static List<Command> claims(List<DeviceKey> devices, FormerSession wish) {
    return devices.stream().<Command>map(device -> new Command.Claim(device, wish, ENDS)).toList();
  }

  private static List<Long> epochs(List<Answer> answers) {
    var epochs = new ArrayList<Long>();
    for (var answer : answers) {
      epochs.add(answer instanceof Answer.Claimed claimed ? claimed.epoch() : 0L);
    }
    return epochs;
  }

  private DeviceKey device(int number) {
    return new DeviceKey(new AppId("shop"), new DeviceId(unique + "-" + number));
  }

  private String kept(int number) {
    return "mqtt-session:shop/" + unique + "-" + number;
  }
}
