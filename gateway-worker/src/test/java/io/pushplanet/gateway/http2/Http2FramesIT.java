package io.pushplanet.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.Expired;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.http2.ScriptedServer.Peer;
import io.pushplanet.gateway.http2.ScriptedServer.Script;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Frames that HTTP/2 servers may send, and those that they must not.
class Http2FramesIT extends Http2Scene {
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

    assertThat(((Answered) first).body()).hasSize(Exchange.MAX_BODY_BYTES);
    assertThat(((Answered) second).body()).hasSize(Exchange.MAX_BODY_BYTES);
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
  void a_peer_that_does_not_speak_http2_is_left() throws Exception {
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
  void a_forbidden_frame_ends_the_connection_and_each_request_once() throws Exception {
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
}
