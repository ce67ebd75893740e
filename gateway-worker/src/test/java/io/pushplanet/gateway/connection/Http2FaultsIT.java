package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.Expired;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.connection.Reply.NotSent;
import io.pushplanet.gateway.connection.ScriptedServer.Peer;
import io.pushplanet.gateway.connection.ScriptedServer.Script;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What HTTP/2 servers do to their clients: each request has one end, and none is written twice unless the server said that
/// it did not look at it.
class Http2FaultsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration NEVER = Duration.ofHours(1);
  private static final Duration SOON = Duration.ofSeconds(3);
  private static final long NO_ERROR = 0x0;
  private static final long INTERNAL_ERROR = 0x2;
  private static final long REFUSED_STREAM = 0x7;
  private static final int MAX_STREAM = Integer.MAX_VALUE;

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Queue<Integer> processed = new ConcurrentLinkedQueue<>();

  /// Long, where silence is not what is tested: on a busy machine the server's thread may not run for seconds.
  private Duration deadAfter = PATIENCE;

  private @Nullable ScriptedServer server;
  private @Nullable ProviderConnections connections;

  @AfterEach
  void stop() {
    threads.shutdownNow();
    clear();
  }

  private void clear() {
    if (connections != null) {
      connections.close();
    }
    if (server != null) {
      server.close();
    }
    targets.clear();
    processed.clear();
  }

  /// What is told apart from silence by seconds.
  private void undisturbed(Undisturbed.Scene scene) throws Exception {
    Undisturbed.play(() -> {
      clear();
      scene.play();
    });
  }

  @Test
  void goaway_with_500_under_way_is_finished_below_its_stream_and_repeated_above()
      throws Exception {
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
  void a_silent_server_is_found_by_a_ping_and_left() throws Exception {
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
  void a_server_that_answers_pings_and_nothing_else_is_left_at_the_deadline() throws Exception {
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
  void one_request_without_an_answer_is_given_up_alone_while_others_are_answered()
      throws Exception {
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
    assertThat(server.peers.getFirst().mostOpen).isEqualTo(4);
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
  void what_is_high_comes_first_however_few_streams_the_server_allows() throws Exception {
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

  @Test
  void header_blocks_may_take_several_frames_in_both_directions() throws Exception {
    String large = "x".repeat(40_000);
    start(
        1,
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          assertThat(headers.get("x-large")).hasToString(large);
          byte[] block =
              block(new DefaultHttp2Headers().status("200").add("apns-id", "i".repeat(3_000)));
          peer.headers(stream, 0, Arrays.copyOfRange(block, 0, 10));
          peer.frame(Frames.CONTINUATION, 0, stream, Arrays.copyOfRange(block, 10, 1_000));
          peer.frame(
              Frames.CONTINUATION, 0x4, stream, Arrays.copyOfRange(block, 1_000, block.length));
          peer.data(stream, "{}".getBytes(StandardCharsets.US_ASCII), true);
        });

    Reply reply =
        connections()
            .send(
                target(),
                new ProviderRequest(
                    Priority.NORMAL, "/1", List.of(Field.of("x-large", large)), body(10), null),
                _ -> false);

    assertThat(reply).as("%s", server.peers.getFirst().failures).isInstanceOf(Answered.class);
    assertThat(((Answered) reply).header("apns-id")).hasValue("i".repeat(3_000));
    assertThat(((Answered) reply).body()).asString().isEqualTo("{}");
  }

  @Test
  void frames_that_say_nothing_to_us_are_passed_over() throws Exception {
    start(
        1,
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          byte[] early = block(new DefaultHttp2Headers().status("103").add("link", "x"));
          peer.headers(stream, Frames.END_HEADERS, early);
          peer.frame(0x42, 0xff, stream, new byte[] {1, 2, 3});
          peer.frame(0x2, 0, stream, new byte[] {0, 0, 0, 0, 1}); // PRIORITY
          byte[] padded = {2, (byte) 0x88, 0, 0};
          peer.headers(stream, Frames.END_HEADERS | 0x8, padded);
          peer.data(stream, new byte[0], false);
          peer.headers(
              stream, Frames.END_HEADERS | 0x1, block(new DefaultHttp2Headers().add("t", "1")));
          peer.widen(stream, 5);
          peer.reset(stream, NO_ERROR);
        });

    assertThat(send(1)).isInstanceOf(Answered.class);
    assertThat(send(2)).isInstanceOf(Answered.class);
    assertThat(server.peers).hasSize(1);
  }

  @Test
  void an_answer_longer_than_we_keep_is_cut_off() throws Exception {
    start(
        1,
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          peer.headers(stream, Frames.END_HEADERS, new byte[] {(byte) 0x88});
          for (int i = 0; i < 7; i++) {
            peer.data(stream, new byte[10_000], false);
          }
        });

    Reply first = send(1);
    Reply second = send(2);

    assertThat(((Answered) first).body()).hasSize(Exchange.MOST_BODY_BYTES);
    assertThat(((Answered) second).body()).hasSize(Exchange.MOST_BODY_BYTES);
    assertThat(server.peers).hasSize(1);
  }

  @Test
  void a_server_that_asks_all_the_time_gets_its_answers() throws Exception {
    start(
        1,
        10,
        NEVER,
        (peer, stream, headers, body) -> {
          for (int i = 0; i < 5_000; i++) {
            peer.frame(Frames.PING, 0, 0, new byte[8]);
            peer.settings(new Http2Settings());
          }
          process(peer, stream, headers);
        });

    assertThat(sendAll(1, 5)).allMatch(Answered.class::isInstance);
    assertThat(server.peers).hasSize(1);
  }

  @Test
  void whoever_does_not_speak_http2_is_left() throws Exception {
    start(
        1,
        10,
        NEVER,
        new Script() {
          @Override
          public void connected(Peer peer) {
            if (peer.number == 1) {
              peer.raw("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            } else {
              peer.settings(new Http2Settings());
            }
          }

          @Override
          public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
            process(peer, stream, headers);
          }
        });

    Reply first = send(1);

    assertThat(first).isNotInstanceOf(Expired.class);
    Eventually.within(PATIENCE, () -> assertThat(send(2)).isInstanceOf(Answered.class));
    Eventually.within(PATIENCE, () -> assertThat(server.peers.getFirst().left).isTrue());
  }

  @Test
  void what_http2_forbids_ends_the_connection_and_each_of_its_requests_once() throws Exception {
    List<byte[]> forbidden =
        List.of(
            frame(0x5, 0x4, 1, new byte[] {0, 0, 0, 2, (byte) 0x82}), // PUSH_PROMISE
            frame(0x0, 0, 99, new byte[4]), // DATA of an idle stream
            frame(0x1, 0x4, 2, new byte[] {(byte) 0x88}), // HEADERS of an even stream
            frame(0x1, 0x4, 1, new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, 0x7f}), // HPACK
            frame(0x8, 0, 0, new byte[] {0x7f, -1, -1, -1}), // a window past its limit
            frame(0x8, 0, 0, new byte[4]), // WINDOW_UPDATE by nothing
            frame(0x9, 0x4, 1, new byte[1]), // CONTINUATION of nothing
            frame(0x4, 0, 1, new byte[0]), // SETTINGS of a stream
            frame(0x6, 0, 0, new byte[3]), // a PING too short
            new byte[] {0x7f, 0, 0, 0, 0, 0, 0, 0, 1}); // a frame too large
    start(
        1,
        1_000,
        NEVER,
        (peer, stream, headers, body) -> {
          if (peer.number <= forbidden.size() && peer.requests.get() == 2) {
            peer.raw(forbidden.get(peer.number - 1));
          } else {
            process(peer, stream, headers);
          }
        });

    for (int i = 0; i < forbidden.size(); i++) {
      assertThat(send(2 * i)).isInstanceOf(Answered.class);
      assertThat(send(2 * i + 1)).as("number %s", i).isEqualTo(new NoAnswer("protocol_error"));
    }
    assertThat(send(1_000)).isInstanceOf(Answered.class);
    assertThat(server.peers).hasSize(forbidden.size() + 1);
  }

  @Test
  void rubbish_leaves_no_request_without_an_end() throws Exception {
    Random random = new Random(11);
    start(
        2,
        1_000,
        Duration.ofSeconds(5),
        (peer, stream, headers, body) -> {
          int dice = random.nextInt(10);
          if (dice > 1) {
            process(peer, stream, headers);
            return;
          }
          byte[] rubbish = new byte[random.nextInt(60)];
          random.nextBytes(rubbish);
          if (dice == 0) {
            peer.raw(rubbish);
          } else {
            peer.frame(random.nextInt(11), random.nextInt(256), random.nextInt(12), rubbish);
          }
          if (random.nextInt(3) == 0) {
            peer.drop();
          } else {
            peer.reset(stream, random.nextInt(14));
          }
        });

    List<Reply> replies = sendAll(0, 1_000);

    assertThat(replies).hasSize(1_000);
    assertThat(processed).doesNotHaveDuplicates();
    long answered = replies.stream().filter(Answered.class::isInstance).count();
    assertThat(answered).isPositive();
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
  void what_has_outlived_its_message_is_not_written() throws Exception {
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
  void where_nobody_listens_all_who_wait_are_told() throws Exception {
    start(1, 10, NEVER, (peer, stream, headers, body) -> process(peer, stream, headers));
    ProviderConnections before = connections();
    server.close();

    List<Reply> replies = sendAll(1, 20);

    assertThat(replies).containsOnly(new NotSent("no_connection"));
    assertThat(before).isSameAs(connections());
  }

  @Test
  void another_connection_opens_when_four_fifths_of_the_streams_are_in_use() throws Exception {
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

  // The scene.

  private void start(int streams, Duration requestTimeout, Script script) {
    start(1, streams, requestTimeout, script);
  }

  private void start(int perCredential, int streams, Duration requestTimeout, Script script) {
    start(perCredential, streams, requestTimeout, 1, script);
  }

  private void start(
      int perCredential, int streams, Duration requestTimeout, int firstStream, Script script) {
    ConnectionSettings settings =
        new ConnectionSettings(
            perCredential, streams, PATIENCE, requestTimeout, NEVER, NEVER, deadAfter);
    server = new ScriptedServer(script);
    connections =
        new ProviderConnections(
            Channel.APNS,
            settings,
            new SimpleMeterRegistry(),
            new Http2Connector(settings, Clock.systemUTC(), firstStream));
  }

  private ProviderConnections connections() {
    if (connections == null) {
      throw new IllegalStateException("not started");
    }
    return connections;
  }

  private final ConcurrentLinkedQueue<ConnectionTarget> targets = new ConcurrentLinkedQueue<>();

  private ConnectionTarget target() throws Exception {
    ConnectionTarget known = targets.peek();
    if (known == null) {
      known =
          new ConnectionTarget(
              "credential",
              URI.create("http://127.0.0.1:" + server.port()),
              javax.net.ssl.SSLContext.getDefault());
      targets.add(known);
    }
    return known;
  }

  private Reply send(int id) throws Exception {
    return connections().send(target(), request(Priority.NORMAL, id, 10), _ -> false);
  }

  private List<Reply> sendAll(int from, int count) throws Exception {
    return sendAll(from, count, 10);
  }

  private List<Reply> sendAll(int from, int count, int bytes) throws Exception {
    return all(submitAll(from, count, bytes));
  }

  private List<Future<Reply>> submitAll(int from, int count) throws Exception {
    return submitAll(from, count, 10);
  }

  private List<Future<Reply>> submitAll(int from, int count, int bytes) throws Exception {
    ConnectionTarget target = target();
    List<Future<Reply>> sent = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int id = from + i;
      sent.add(
          threads.submit(
              () -> connections().send(target, request(Priority.NORMAL, id, bytes), _ -> false)));
    }
    return sent;
  }

  private static List<Reply> all(List<Future<Reply>> sent) throws Exception {
    List<Reply> replies = new ArrayList<>();
    for (Future<Reply> one : sent) {
      replies.add(one.get(120, TimeUnit.SECONDS));
    }
    return replies;
  }

  private static ProviderRequest request(Priority priority, int id, int bytes) {
    return new ProviderRequest(priority, "/" + id, List.of(), body(bytes), null);
  }

  private static byte[] body(int bytes) {
    byte[] body = new byte[bytes];
    Arrays.fill(body, (byte) 'b');
    return body;
  }

  private static int id(Http2Headers headers) {
    return Integer.parseInt(headers.path().toString().substring(1));
  }

  private void process(Peer peer, int stream, Http2Headers headers) {
    processed.add(id(headers));
    peer.answer(stream);
  }

  private static byte[] block(Http2Headers headers) {
    ByteBuf out = Unpooled.buffer();
    try {
      // A table of no size: every block stands for itself.
      DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder((name, value) -> true);
      encoder.encodeHeaders(1, headers, out);
    } catch (Http2Exception e) {
      throw new IllegalStateException(e);
    }
    return ByteBufUtil.getBytes(out);
  }

  private static byte[] frame(int type, int flags, int stream, byte[] payload) {
    ByteBuf out = Unpooled.buffer();
    Frames.head(out, payload.length, (byte) type, flags, stream);
    out.writeBytes(payload);
    return ByteBufUtil.getBytes(out);
  }

  /// Requests that the server has read and not answered. Confined to its event loop, but for looking.
  private final class Held {
    private record One(Peer peer, int stream, Http2Headers headers) {}

    private volatile List<One> all = List.of();

    /// @return how many there are
    int add(Peer peer, int stream, Http2Headers headers) {
      List<One> more = new ArrayList<>(all);
      more.add(new One(peer, stream, headers));
      all = List.copyOf(more);
      return more.size();
    }

    List<Integer> streams() {
      return all.stream().map(One::stream).toList();
    }

    void keep(int first) {
      all = all.subList(0, first);
    }

    void answerAll() {
      List<One> answered = all;
      all = List.of();
      answered.forEach(it -> process(it.peer, it.stream, it.headers));
    }
  }
}
