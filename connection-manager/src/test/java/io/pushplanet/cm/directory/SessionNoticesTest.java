package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.directory.Directory.RememberedSession;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.SessionNotice.Denial;
import io.pushplanet.common.session.SessionNotice.Handover;
import io.pushplanet.common.session.SessionNotice.SessionRelease;
import io.pushplanet.common.session.SessionNotice.Takeover;
import io.pushplanet.common.session.SessionOwner;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SessionNoticesTest extends RegistrarScene {
  @Test
  void the_release_of_an_absent_device_is_confirmed_at_once() {
    var other = device("other");

    registrar.hear(new Takeover(other, new SessionOwner(new NodeId("b"), EPOCH)));

    assertThat(directory.commands)
        .containsExactly(
            new Command.ConfirmRelease(
                other, new SessionOwner(new NodeId("b"), EPOCH), Optional.empty()));
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

    assertThat(directory.commands)
        .last()
        .isEqualTo(new Command.ConfirmRelease(other, next, Optional.empty()));
  }

  @Test
  void the_end_of_a_session_answers_the_claim_that_took_it() {
    var claimant = new SessionOwner(new NodeId("b"), EPOCH + 3);
    registrar.hear(new Takeover(DEVICE, claimant));
    assertThat(session.isLost()).isTrue();
    assertThat(directory.commands).isEmpty();
    table.remove(session);

    registrar.release(session, 3_600, List.of());

    assertThat(directory.commands)
        .containsExactly(
            new Command.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS),
            new Command.ConfirmRelease(
                DEVICE, claimant, Optional.of(new RememberedSession(AT_ONE, EPOCH))));
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
}
