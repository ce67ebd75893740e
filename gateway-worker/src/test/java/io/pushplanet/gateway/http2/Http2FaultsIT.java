package io.pushplanet.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Headers;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.Expired;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.connection.Reply.NotSent;
import io.pushplanet.gateway.http2.ScriptedServer.Peer;
import io.pushplanet.gateway.http2.ScriptedServer.Script;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/// Faults of HTTP/2 servers: each request ends once, and none is written twice unless the server
/// said that it did not process it.
class Http2FaultsIT extends Http2Scene {
  private static final long INTERNAL_ERROR = 0x2;
  private static final long REFUSED_STREAM = 0x7;
  private static final long ENHANCE_YOUR_CALM = 0xb;
  private static final int MAX_STREAM = Integer.MAX_VALUE;

  @Test
  void pushy_865_goaway_repeats_only_the_requests_above_its_stream() throws Exception {
    Held held = new Held();
    start(
        1_000,
        NEVER,
        (peer, stream, headers, body) -> {
          if (peer.number > 1 || id(headers) == 0) {
            process(peer, stream, headers);
            // The first connection's requests are answered when its replacement is there.
            server.peers.getFirst().later(held::answerAll);
            return;
          }
          if (held.add(peer, stream, headers) == 500) {
            List<Integer> streams = held.streams();
            peer.goAway(streams.get(249), NO_ERROR, "{\"reason\":\"Shutdown\"}");
            held.keep(250);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Reply> replies = sendAll(1, 500);

    assertThat(replies).hasSize(500).allMatch(Answered.class::isInstance);
    assertThat(processed).hasSize(501).doesNotHaveDuplicates();
    assertThat(server.peers.get(0).requests).hasValue(501);
    assertThat(server.peers.get(1).requests).hasValue(250);
    Eventually.within(PATIENCE, () -> assertThat(server.peers.getFirst().left).isTrue());
  }

  /// DocNR/clave#14: for six hours each push went to the connection that had said GOAWAY, and was
  /// refused there.
  @Test
  void clave_14_after_goaway_no_request_goes_to_the_connection_that_refuses_them()
      throws Exception {
    AtomicInteger refused = new AtomicInteger();
    start(
        100,
        NEVER,
        (peer, stream, headers, body) -> {
          if (peer.number > 1 || id(headers) == 0) {
            process(peer, stream, headers);
            return;
          }
          // It says so once, refuses everything, and leaves the connection open.
          if (refused.getAndIncrement() == 0) {
            peer.goAway(stream - 2, NO_ERROR, "");
          }
          peer.reset(stream, REFUSED_STREAM);
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    assertThat(send(1)).isInstanceOf(Answered.class);
    List<Reply> replies = sendAll(2, 50);

    assertThat(replies).allMatch(Answered.class::isInstance);
    assertThat(processed).hasSize(52).doesNotHaveDuplicates();
    assertThat(refused).hasValue(1);
    Eventually.within(PATIENCE, () -> assertThat(server.peers.getFirst().left).isTrue());
  }

  @Test
  void goaway_may_come_in_two_steps() throws Exception {
    Held held = new Held();
    start(
        1_000,
        NEVER,
        (peer, stream, headers, body) -> {
          if (peer.number > 1 || id(headers) == 0) {
            process(peer, stream, headers);
            return;
          }
          if (held.add(peer, stream, headers) == 50) {
            peer.goAway(MAX_STREAM, NO_ERROR, "");
            peer.goAway(held.streams().get(9), NO_ERROR, "");
            held.keep(10);
            held.answerAll();
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Reply> replies = sendAll(1, 50);

    assertThat(replies).allMatch(Answered.class::isInstance);
    assertThat(processed).hasSize(51).doesNotHaveDuplicates();
  }

  @Test
  void a_refused_stream_in_a_hundred_is_repeated_and_costs_no_connection() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    start(
        200,
        NEVER,
        (peer, stream, headers, body) -> {
          if (seen.incrementAndGet() % 100 == 0) {
            peer.reset(stream, REFUSED_STREAM);
          } else {
            process(peer, stream, headers);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Reply> replies = sendAll(1, 2_000);

    assertThat(replies).allMatch(Answered.class::isInstance);
    assertThat(processed).hasSize(2_001).doesNotHaveDuplicates();
    assertThat(server.peers).noneMatch(peer -> peer.left);
  }

  @Test
  void a_server_that_refuses_everything_is_not_asked_for_ever() throws Exception {
    start(10, NEVER, (peer, stream, headers, body) -> peer.reset(stream, REFUSED_STREAM));

    assertThat(send(1)).isEqualTo(new NotSent("refused_stream"));
  }

  @Test
  void a_connection_that_refuses_everything_is_left_for_another() throws Exception {
    start(
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          if (peer.number == 1 && id(headers) > 0) {
            peer.reset(stream, REFUSED_STREAM);
          } else {
            process(peer, stream, headers);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    assertThat(send(1)).isInstanceOf(Answered.class);
    assertThat(server.peers).hasSize(2);
    Eventually.within(PATIENCE, () -> assertThat(server.peers.getFirst().left).isTrue());
  }

  @Test
  void a_connection_that_breaks_off_one_after_the_other_is_left_for_another() throws Exception {
    start(
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          if (peer.number == 1 && id(headers) > 0) {
            peer.reset(stream, INTERNAL_ERROR);
          } else {
            process(peer, stream, headers);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    for (int id = 1; id <= Http2Streams.MAX_BROKEN_OFF; id++) {
      assertThat(send(id)).isEqualTo(new NoAnswer("stream_reset"));
    }

    assertThat(send(Http2Streams.MAX_BROKEN_OFF + 1)).isInstanceOf(Answered.class);
    assertThat(server.peers).hasSize(2);
    Eventually.within(PATIENCE, () -> assertThat(server.peers.getFirst().left).isTrue());
  }

  @Test
  void a_connection_that_breaks_off_some_and_answers_others_is_kept() throws Exception {
    start(
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          if (id(headers) % 2 == 1) {
            peer.reset(stream, INTERNAL_ERROR);
          } else {
            process(peer, stream, headers);
          }
        });

    for (int id = 0; id <= 2 * Http2Streams.MAX_BROKEN_OFF; id++) {
      send(id);
    }

    assertThat(server.peers).hasSize(1).noneMatch(peer -> peer.left);
  }

  @Test
  void a_connection_that_refuses_some_for_long_and_answers_others_is_kept() throws Exception {
    AtomicInteger refusals = new AtomicInteger();
    Held held = new Held();
    start(
        1,
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          if (id(headers) == 1) {
            if (refusals.incrementAndGet() == 2) {
              held.answerAll();
            }
            peer.reset(stream, REFUSED_STREAM);
          } else if (id(headers) == 2) {
            held.add(peer, stream, headers);
          } else {
            process(peer, stream, headers);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);
    Future<Reply> answered = threads.submit(() -> send(2));
    Eventually.within(PATIENCE, () -> assertThat(held.streams()).hasSize(1));

    assertThat(send(1)).isEqualTo(new NotSent("refused_stream"));

    assertThat(answered.get()).isInstanceOf(Answered.class);
    assertThat(server.peers).hasSize(1).noneMatch(peer -> peer.left);
  }

  @Test
  void a_server_that_refuses_each_connection_by_goaway_is_called_rarely() throws Exception {
    start(1, 10, NEVER, new Ending(1_000, peer -> peer.goAway(0, ENHANCE_YOUR_CALM, "")));

    assertThat(send(1)).isEqualTo(new NotSent("connection_ended"));
    assertThat(server.peers).hasSize(2);
  }

  @Test
  void a_server_that_closes_each_connection_is_not_called_for_each_message() throws Exception {
    start(1, 10, NEVER, (peer, stream, headers, body) -> peer.drop());

    List<Reply> replies = sendAll(1, 100);

    assertThat(replies).noneMatch(Answered.class::isInstance);
    // As many as pauses fit into a slow run.
    assertThat(server.peers).hasSizeLessThan(20);
  }

  @Test
  void one_new_connection_that_ends_is_replaced_at_once_without_a_loss() throws Exception {
    start(1, 10, NEVER, new Ending(1, peer -> peer.goAway(0, NO_ERROR, "")));

    assertThat(sendAll(1, 20)).allMatch(Answered.class::isInstance);
    assertThat(server.peers).hasSize(2);
  }

  @Test
  void after_a_pause_a_server_that_takes_connections_again_is_found() throws Exception {
    start(1, 10, NEVER, new Ending(2, peer -> peer.goAway(0, NO_ERROR, "")));
    assertThat(send(1)).isEqualTo(new NotSent("connection_ended"));

    Eventually.within(PATIENCE, () -> assertThat(send(2)).isInstanceOf(Answered.class));

    assertThat(server.peers).hasSize(3);
  }

  /// Ends the first connections before it answers anything.
  private final class Ending implements Script {
    private final int connections;
    private final Consumer<Peer> end;

    Ending(int connections, Consumer<Peer> end) {
      this.connections = connections;
      this.end = end;
    }

    @Override
    public void connected(Peer peer) {
      Script.super.connected(peer);
      if (peer.number <= connections) {
        end.accept(peer);
      }
    }

    @Override
    public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
      if (peer.number > connections) {
        process(peer, stream, headers);
      }
    }
  }

  @Test
  void a_reset_stream_takes_no_other_along() throws Exception {
    start(
        1_000,
        NEVER,
        (peer, stream, headers, body) -> {
          if (id(headers) % 10 == 5) {
            peer.reset(stream, INTERNAL_ERROR);
          } else {
            process(peer, stream, headers);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Reply> replies = sendAll(1, 100);

    assertThat(replies.stream().filter(new NoAnswer("stream_reset")::equals)).hasSize(10);
    assertThat(replies.stream().filter(Answered.class::isInstance)).hasSize(90);
    assertThat(server.peers).hasSize(1).noneMatch(peer -> peer.left);
  }

  @Test
  void a_connection_that_breaks_leaves_those_written_without_an_answer_and_no_other()
      throws Exception {
    start(
        1,
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          if (peer.number == 1 && id(headers) > 0) {
            peer.drop();
          } else {
            process(peer, stream, headers);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Reply> replies = sendAll(1, 40);

    assertThat(replies).allMatch(it -> it instanceof Answered || it instanceof NoAnswer);
    assertThat(replies.stream().filter(NoAnswer.class::isInstance).count()).isBetween(1L, 9L);
    assertThat(processed).doesNotHaveDuplicates();
  }

  @Test
  void a_connection_whose_streams_are_used_up_is_replaced() throws Exception {
    start(
        2,
        10,
        NEVER,
        MAX_STREAM - 6,
        (peer, stream, headers, body) -> process(peer, stream, headers));

    List<Reply> replies = sendAll(1, 11);

    assertThat(replies).allMatch(Answered.class::isInstance);
    assertThat(processed).hasSize(11).doesNotHaveDuplicates();
    assertThat(server.peers).hasSizeGreaterThanOrEqualTo(3);
    assertThat(server.peers).allMatch(peer -> peer.requests.get() <= 4);
  }

  @Test
  void a_sender_that_is_interrupted_gives_its_stream_up_and_no_other() throws Exception {
    Held held = new Held();
    List<Integer> givenUp = new CopyOnWriteArrayList<>();
    start(
        1,
        1_000,
        NEVER,
        new Script() {
          @Override
          public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
            if (id(headers) == 7) {
              held.add(peer, stream, headers);
            } else {
              process(peer, stream, headers);
            }
          }

          @Override
          public void reset(Peer peer, int stream, long error) {
            givenUp.add(stream);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);
    Future<Reply> interrupted = threads.submit(() -> send(7));
    Eventually.within(PATIENCE, () -> assertThat(held.streams()).hasSize(1));

    interrupted.cancel(true);

    Eventually.within(PATIENCE, () -> assertThat(givenUp).hasSize(1));
    Eventually.within(
        PATIENCE, () -> assertThat(connections().inUse(target()).underWay()).isZero());
    assertThat(send(1)).isInstanceOf(Answered.class);
    assertThat(server.peers).hasSize(1);
  }

  @Test
  void a_request_of_an_expired_message_is_not_written() throws Exception {
    start(1, 10, NEVER, (peer, stream, headers, body) -> process(peer, stream, headers));

    Reply reply =
        connections()
            .send(
                target(),
                new ProviderRequest(Priority.NORMAL, "/1", List.of(), body(10), Instant.EPOCH),
                _ -> false);

    assertThat(reply).isInstanceOf(Expired.class);
    assertThat(send(2)).isInstanceOf(Answered.class);
    assertThat(processed).containsExactly(2);
  }

  @Test
  void a_spoilt_connection_gets_no_further_request() throws Exception {
    start(1, 10, NEVER, (peer, stream, headers, body) -> process(peer, stream, headers));

    assertThat(connections().send(target(), request(Priority.NORMAL, 1, 10), _ -> true))
        .isInstanceOf(Answered.class);
    assertThat(send(2)).isInstanceOf(Answered.class);

    assertThat(server.peers).hasSize(2);
    Eventually.within(PATIENCE, () -> assertThat(server.peers.getFirst().left).isTrue());
  }

  @Test
  void pushsharp_222_pushsharp_211_all_requests_fail_where_no_server_listens() throws Exception {
    start(1, 10, NEVER, (peer, stream, headers, body) -> process(peer, stream, headers));
    ProviderConnections before = connections();
    server.close();

    // Bound without listening, so that no other process gets the port meanwhile.
    try (Socket taken = new Socket()) {
      taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));

      List<Reply> replies = sendAll(1, 20);

      assertThat(replies).containsOnly(new NotSent("connect_refused"));
      assertThat(before).isSameAs(connections());
    }
  }
}
