package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Timer;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.directory.Directory.RememberedSession;
import io.pushplanet.cm.directory.Registrar.Claim;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.SessionNotice.SessionRelease;
import io.pushplanet.common.session.SessionNotice.Takeover;
import io.pushplanet.common.session.SessionOwner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ClaimsTest extends RegistrarScene {
  private static final MessageId SENT = new MessageId("0190b8a0-0000-7000-8000-000000000001");

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

  @Test
  void a_takeover_lasts_from_the_answer_to_the_claim_until_the_former_owner_has_released() {
    directory.whileClaiming = () -> meterClock.add(Duration.ofMillis(500));
    claimed(FormerSession.RESUME);
    meterClock.add(Duration.ofMillis(30));

    registrar.hear(new SessionRelease(DEVICE, EPOCH, "1,0"));
    meterClock.add(Duration.ofSeconds(1));
    timers.forEach(Runnable::run);

    assertThat(takeover().count()).isOne();
    assertThat(takeover().totalTime(TimeUnit.MILLISECONDS)).isEqualTo(30);
  }

  @Test
  void a_takeover_from_a_silent_owner_lasts_as_long_as_it_is_waited_for() {
    claimed(FormerSession.RESUME);
    meterClock.add(Duration.ofSeconds(1));

    timers.forEach(Runnable::run);

    assertThat(takeover().count()).isOne();
    assertThat(takeover().totalTime(TimeUnit.SECONDS)).isEqualTo(1);
  }

  /// It knows the beginning only by the other node's clock.
  @Test
  void a_node_that_loses_a_device_times_no_takeover() {
    registrar.hear(new Takeover(DEVICE, new SessionOwner(new NodeId("b"), EPOCH + 1)));

    assertThat(session.isLost()).isTrue();
    assertThat(takeover().count()).isZero();
  }

  private Timer takeover() {
    return meters.get("cm.session.takeover").timer();
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

  /// The directory has the subscription from SUBSCRIBE on, but what was sent only from the end on.
  @Test
  void what_the_former_owner_has_sent_is_added_to_the_directorys_session() {
    directory.remembered = Optional.of(new RememberedSession(AT_ONE, EPOCH - 2));
    directory.whileClaiming =
        () -> {
          registrar.hear(new SessionRelease(DEVICE, EPOCH, "1,0", List.of(SENT)));
          registrar.hear(new SessionRelease(DEVICE, EPOCH, "1,0"));
        };

    assertThat(claimed(FormerSession.RESUME))
        .containsExactly(
            new Claim.Taken(
                EPOCH + 1, Optional.of(new RememberedSession(AT_ONE, EPOCH - 2, List.of(SENT)))));
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
    assertThat(takeover().count()).isZero();
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

  /// A client whose patience is shorter than the wait connects again and again.
  @Test
  void a_claim_behind_one_that_the_former_owner_left_unanswered_goes_on_with_it() {
    var first = claimed(FormerSession.RESUME);
    directory.claimed =
        new Answer.Claimed(
            EPOCH + 2,
            Optional.of(new SessionOwner(new NodeId("a"), EPOCH + 1)),
            false,
            Optional.empty());
    var second = new ArrayList<Claim>();
    registrar.claim(DEVICE, FormerSession.RESUME, ENDS, new QuietClient().loop(), second::add);

    timers.getFirst().run();

    assertThat(first).containsExactly(new Claim.Taken(EPOCH + 1, Optional.empty()));
    assertThat(second).containsExactly(new Claim.Taken(EPOCH + 2, Optional.empty()));
    assertThat(meters.counter("cm.session.takeovers.unanswered").count()).isOne();
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
            new Command.ConfirmRelease(other, before, Optional.empty()));
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
}
