package io.pushplanet.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.http2.ScriptedServer.Peer;
import io.pushplanet.gateway.http2.ScriptedServer.Script;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// How many streams and bytes HTTP/2 servers allow: which requests wait, in which order, and when
/// another connection opens.
class Http2LimitsIT extends Http2Scene {
  @Test
  void the_first_request_goes_alone_until_it_is_answered() throws Exception {
    Held held = new Held();
    AtomicInteger answered = new AtomicInteger();
    start(
        1,
        1_000,
        NEVER,
        (peer, stream, headers, body) -> {
          if (answered.get() == 0) {
            held.add(peer, stream, headers);
          } else {
            process(peer, stream, headers);
          }
        });

    List<Future<Reply>> sent = submitAll(0, 20);
    Eventually.within(
        PATIENCE, () -> assertThat(connections().inUse(target()).underWay()).isEqualTo(1));
    Eventually.within(
        PATIENCE, () -> assertThat(connections().inUse(target()).waiting()).isEqualTo(19));
    Eventually.within(PATIENCE, () -> assertThat(held.streams()).hasSize(1));
    server
        .peers
        .getFirst()
        .later(() -> {
          answered.set(1);
          held.answerAll();
        });

    assertThat(all(sent)).allMatch(Answered.class::isInstance);
  }

  @Test
  void a_setting_that_is_not_named_keeps_its_value() throws Exception {
    Held held = new Held();
    start(
        1,
        1_000,
        NEVER,
        new Script() {
          @Override
          public void connected(Peer peer) {
            peer.settings(new Http2Settings().maxConcurrentStreams(4));
            peer.settings(new Http2Settings().initialWindowSize(50_000));
            peer.widen(0, 1 << 20);
          }

          @Override
          public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
            if (id(headers) == 0) {
              process(peer, stream, headers);
            } else if (held.add(peer, stream, headers) == 4) {
              held.answerAll();
            }
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    assertThat(sendAll(1, 40)).allMatch(Answered.class::isInstance);
    assertThat(server.peers.getFirst().maxOpen).isEqualTo(4);
  }

  @Test
  void the_server_may_change_how_many_streams_it_allows() throws Exception {
    Held held = new Held();
    int[] limits = {6, 2, 9, 3};
    AtomicInteger batches = new AtomicInteger();
    List<Integer> inBatch = new CopyOnWriteArrayList<>();
    start(
        1,
        1_000,
        NEVER,
        new Script() {
          @Override
          public void connected(Peer peer) {
            peer.settings(new Http2Settings().maxConcurrentStreams(limits[0]));
            peer.widen(0, 1 << 20);
          }

          @Override
          public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
            if (id(headers) == 0) {
              process(peer, stream, headers);
              return;
            }
            int limit = limits[batches.get() % limits.length];
            if (held.add(peer, stream, headers) == limit) {
              inBatch.add(peer.openNow());
              int next = limits[batches.incrementAndGet() % limits.length];
              peer.settings(new Http2Settings().maxConcurrentStreams(next));
              held.answerAll();
            }
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    assertThat(sendAll(1, 40)).allMatch(Answered.class::isInstance);
    assertThat(inBatch).containsExactly(6, 2, 9, 3, 6, 2, 9, 3);
  }

  @Test
  void high_comes_first_however_few_streams_the_server_allows() throws Exception {
    Held held = new Held();
    start(
        1,
        1_000,
        NEVER,
        new Script() {
          @Override
          public void connected(Peer peer) {
            peer.settings(new Http2Settings().maxConcurrentStreams(10));
          }

          @Override
          public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
            if (id(headers) == 0 || id(headers) == 100) {
              process(peer, stream, headers);
            } else {
              held.add(peer, stream, headers);
            }
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);
    List<Future<Reply>> bulk = submitAll(1, 12);
    Eventually.within(
        PATIENCE, () -> assertThat(connections().inUse(target()).waiting()).isEqualTo(3));

    Reply high = connections().send(target(), request(Priority.HIGH, 100, 10), _ -> false);

    assertThat(high).isInstanceOf(Answered.class);
    assertThat(bulk).noneMatch(Future::isDone);
  }

  @Test
  void a_stream_window_of_a_hundred_bytes_is_enough() throws Exception {
    start(
        1,
        1_000,
        NEVER,
        new Script() {
          @Override
          public void connected(Peer peer) {
            peer.settings(new Http2Settings().initialWindowSize(100));
            peer.widen(0, 1 << 20);
          }

          @Override
          public void partOfBody(Peer peer, int stream, int bytes) {
            if (stream % 3 == 0) {
              // Smaller by 50 for all, then larger again: what was sent before counts.
              peer.settings(new Http2Settings().initialWindowSize(50));
              peer.settings(new Http2Settings().initialWindowSize(100));
            }
            peer.widen(stream, bytes);
          }

          @Override
          public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
            assertThat(body).isEqualTo(body(1_000));
            process(peer, stream, headers);
          }
        });

    assertThat(sendAll(1, 50, 1_000)).allMatch(Answered.class::isInstance);
    assertThat(processed).hasSize(50).doesNotHaveDuplicates();
  }

  @Test
  void small_connection_windows_are_met_with_more_connections() throws Exception {
    start(4, 1_000, NEVER, new Unwidened());
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Reply> replies = sendAll(1, 20, 10_000);

    assertThat(replies).allMatch(Answered.class::isInstance);
    assertThat(server.peers).hasSize(4);
    assertThat(processed).hasSize(21).doesNotHaveDuplicates();
  }

  @Test
  void a_window_that_is_never_widened_is_left_with_its_connection() throws Exception {
    undisturbed(this::leaveTheNarrow);
  }

  private void leaveTheNarrow() throws Exception {
    deadAfter = SOON;
    start(1, 1_000, NEVER, new Unwidened());

    List<Reply> replies = sendAll(1, 10, 10_000);

    assertThat(replies).allMatch(Answered.class::isInstance);
    assertThat(server.peers).hasSize(2);
    assertThat(processed).hasSize(10).doesNotHaveDuplicates();
  }

  @Test
  void a_connection_that_begins_with_no_stream_is_left() throws Exception {
    undisturbed(this::leaveWhoAllowsNone);
  }

  private void leaveWhoAllowsNone() throws Exception {
    deadAfter = SOON;
    start(1, 1_000, NEVER, new Closed(1));

    assertThat(send(1)).isInstanceOf(Answered.class);
    assertThat(server.peers).hasSize(2);
    assertThat(server.peers.getFirst().left).isTrue();
  }

  @Test
  void a_connection_that_begins_with_no_stream_is_met_with_another() throws Exception {
    start(16, 1_000, NEVER, new Closed(1));

    assertThat(sendAll(1, 20)).allMatch(Answered.class::isInstance);
    assertThat(server.peers).hasSize(2);
  }

  @Test
  void a_server_that_allows_no_stream_is_not_tried_with_all_connections() throws Exception {
    undisturbed(this::tryWithTwo);
  }

  private void tryWithTwo() throws Exception {
    deadAfter = SOON;
    start(16, 1_000, NEVER, new Closed(1_000));

    submitAll(1, 20);
    Eventually.within(PATIENCE, () -> assertThat(server.peers).anyMatch(peer -> peer.left));

    assertThat(server.peers).hasSizeLessThanOrEqualTo(4);
  }

  /// Allows no stream on the first connections.
  private final class Closed implements Script {
    private final int connections;

    Closed(int connections) {
      this.connections = connections;
    }

    @Override
    public void connected(Peer peer) {
      if (peer.number <= connections) {
        peer.settings(new Http2Settings().maxConcurrentStreams(0));
      } else {
        Script.super.connected(peer);
      }
    }

    @Override
    public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
      if (peer.number > connections) {
        process(peer, stream, headers);
      } else {
        // Written before our SETTINGS were read.
        peer.reset(stream, Http2Error.REFUSED_STREAM.code());
      }
    }
  }

  private final class Unwidened implements Script {
    @Override
    public void connected(Peer peer) {
      peer.settings(new Http2Settings());
    }

    @Override
    public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
      process(peer, stream, headers);
    }
  }

  /// eladnava/fcm-v1-http2#8: one connection is 100 streams. No more is expected of connections
  /// that wait for their first answers.
  @Test
  void fcm_v1_http2_8_a_peer_with_few_streams_gets_enough_connections_at_once() throws Exception {
    Held held = new Held();
    AtomicBoolean released = new AtomicBoolean();
    start(
        16,
        1_000,
        NEVER,
        new Script() {
          @Override
          public void connected(Peer peer) {
            peer.settings(new Http2Settings().maxConcurrentStreams(10).initialWindowSize(1 << 20));
            peer.widen(0, 1 << 30);
          }

          @Override
          public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
            if (id(headers) == 0 || released.get()) {
              process(peer, stream, headers);
            } else {
              held.add(peer, stream, headers);
            }
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Future<Reply>> sent = submitAll(1, 50);

    // The first takes 9 of priority `normal`, and each further one is expected to take 10.
    Eventually.within(PATIENCE, () -> assertThat(held.streams()).hasSize(9 + 5));
    assertThat(server.peers).hasSizeBetween(6, 8);
    released.set(true);
    server.peers.forEach(peer -> peer.later(held::answerAll));
    assertThat(all(sent)).allMatch(Answered.class::isInstance);
    assertThat(processed).hasSize(51).doesNotHaveDuplicates();
  }

  @Test
  void pushy_586_pushy_704_a_crowded_connection_gets_another_beside_it() throws Exception {
    Held held = new Held();
    start(
        2,
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          if (id(headers) == 0) {
            process(peer, stream, headers);
          } else {
            held.add(peer, stream, headers);
          }
        });
    assertThat(send(0)).isInstanceOf(Answered.class);

    List<Future<Reply>> sent = submitAll(1, 9);
    Eventually.within(PATIENCE, () -> assertThat(held.streams()).hasSize(9));

    Eventually.within(PATIENCE, () -> assertThat(server.peers).hasSize(2));
    server.peers.getFirst().later(held::answerAll);
    assertThat(all(sent)).allMatch(Answered.class::isInstance);
  }
}
