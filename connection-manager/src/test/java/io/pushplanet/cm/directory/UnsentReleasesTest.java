package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.directory.Registrar.Claim;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.common.redis.RedisUnavailable;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UnsentReleasesTest extends RegistrarScene {
  @Test
  void an_end_during_an_outage_is_sent_once_the_directory_is_back() {
    table.remove(session);
    registrar.away(new RedisUnavailable("away", null));
    registrar.release(session, 3_600, List.of());
    assertThat(directory.commands).isEmpty();

    registrar.compareNext(registrar.pause());
    registrar.compareNext(registrar.pause());

    assertThat(directory.commands)
        .containsExactly(new Command.End(DEVICE, EPOCH, 3_600, AT_ONE, ENDS));
  }

  @Test
  void pending_releases_are_sent_before_a_node_leaves() {
    table.remove(session);
    registrar.away(new RedisUnavailable("away", null));
    registrar.release(session, 3_600, List.of());
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
    registrar.release(session, 3_600, List.of());
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
      slow.release(each, 3_600, List.of());
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
    registrar.away(new RedisUnavailable("away", null));
    registrar.release(session, 3_600, List.of());
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
  void a_denied_claim_does_not_drop_the_pending_end_of_the_device() {
    table.remove(session);
    registrar.away(new RedisUnavailable("away", null));
    registrar.release(session, 3_600, List.of());
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
}
