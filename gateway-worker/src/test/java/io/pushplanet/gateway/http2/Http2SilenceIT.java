package io.pushplanet.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Headers;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.http2.ScriptedServer.Peer;
import io.pushplanet.gateway.http2.ScriptedServer.Script;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// HTTP/2 servers that say nothing, or too little: which of them are left, and which are waited
/// for.
class Http2SilenceIT extends Http2Scene {
  @Test
  void parse_server_push_adapter_90_a_silent_server_is_found_by_a_ping_and_left() throws Exception {
    undisturbed(this::leaveTheSilent);
  }

  private void leaveTheSilent() throws Exception {
    deadAfter = SOON;
    start(
        1_000,
        NEVER,
        (peer, stream, headers, body) -> {
          if (peer.number == 1 && id(headers) > 0) {
            peer.fallSilent();
          } else {
            process(peer, stream, headers);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Reply> replies = sendAll(1, 100);

    assertThat(replies).hasSize(100).containsOnly(new NoAnswer("silent"));
    assertThat(send(101)).isInstanceOf(Answered.class);
    Eventually.within(PATIENCE, () -> assertThat(server.peers.getFirst().left).isTrue());
  }

  @Test
  void only_one_of_many_dead_idle_connections_costs_a_ping() throws Exception {
    undisturbed(this::askOneOfTheDead);
  }

  /// Asked one after the other, two seconds each, the dead connections would outlast the wait for a
  /// connection. There are twenty requests, except for the tenth that is kept for priority `high`.
  private void askOneOfTheDead() throws Exception {
    pingAfter = Duration.ZERO;
    Held held = new Held();
    start(
        20,
        1,
        NEVER,
        (peer, stream, headers, body) -> {
          if (id(headers) == 100) {
            process(peer, stream, headers);
          } else if (held.add(peer, stream, headers) == 18) {
            held.answerAll();
          }
        });
    assertThat(sendAll(0, 18)).hasSize(18).allMatch(Answered.class::isInstance);
    assertThat(server.peers).hasSize(18);
    server.peers.forEach(Peer::fallSilent);

    assertThat(send(100)).isInstanceOf(Answered.class);

    assertThat(server.peers).hasSize(19);
  }

  @Test
  void a_server_that_only_takes_its_time_is_waited_for() throws Exception {
    undisturbed(this::waitForTheSlow);
  }

  private void waitForTheSlow() throws Exception {
    deadAfter = SOON;
    Held held = new Held();
    AtomicInteger pings = new AtomicInteger();
    start(
        1,
        10,
        NEVER,
        new Script() {
          @Override
          public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
            held.add(peer, stream, headers);
          }

          @Override
          public void pinged(Peer peer) {
            if (pings.incrementAndGet() == 4) {
              held.answerAll();
            }
          }
        });

    assertThat(send(1)).isInstanceOf(Answered.class);
    assertThat(server.peers).hasSize(1);
  }

  @Test
  void rpush_477_a_server_that_answers_only_pings_is_left_at_the_deadline() throws Exception {
    undisturbed(this::leaveWhoOnlyAnswersPings);
  }

  private void leaveWhoOnlyAnswersPings() throws Exception {
    start(
        1_000,
        Duration.ofSeconds(5),
        (peer, stream, headers, body) -> {
          if (peer.number > 1 || id(headers) == 0) {
            process(peer, stream, headers);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Reply> replies = sendAll(1, 20);

    assertThat(replies)
        .allMatch(it -> it.equals(new NoAnswer("timeout")) || it instanceof Answered)
        .contains(new NoAnswer("timeout"));
    assertThat(send(100)).isInstanceOf(Answered.class);
    Eventually.within(PATIENCE, () -> assertThat(server.peers.getFirst().left).isTrue());
  }

  @Test
  void pushy_816_one_unanswered_request_is_given_up_alone() throws Exception {
    undisturbed(this::giveUpOneAlone);
  }

  private void giveUpOneAlone() throws Exception {
    List<Integer> givenUp = new CopyOnWriteArrayList<>();
    start(
        1,
        1_000,
        Duration.ofSeconds(5),
        new Script() {
          @Override
          public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
            if (id(headers) != 7) {
              process(peer, stream, headers);
            }
          }

          @Override
          public void reset(Peer peer, int stream, long error) {
            givenUp.add(stream);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    Future<Reply> slow = threads.submit(() -> send(7));
    Eventually.within(
        PATIENCE,
        () -> {
          assertThat(send(1)).isInstanceOf(Answered.class);
          assertThat(slow.isDone()).isTrue();
        });

    assertThat(slow.get()).isEqualTo(new NoAnswer("timeout"));
    assertThat(server.peers).hasSize(1).noneMatch(peer -> peer.left);
    Eventually.within(PATIENCE, () -> assertThat(givenUp).hasSize(1));
  }
}
