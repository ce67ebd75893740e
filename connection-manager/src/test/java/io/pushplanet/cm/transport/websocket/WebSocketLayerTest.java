package io.pushplanet.cm.transport.websocket;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.websocket.WebSocketLayer.Progress;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WebSocketLayerTest {
  private static final String REQUEST =
      """
      GET /mqtt HTTP/1.1
      Host: push.example.org
      Upgrade: websocket
      Connection: keep-alive, Upgrade
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
      Sec-WebSocket-Protocol: mqttv3.1, mqtt
      Sec-WebSocket-Version: 13

      """
          .replace("\n", "\r\n");
  private static final byte[] MASK = {1, 2, 3, 4};

  private final WebSocketLayer layer = new WebSocketLayer();
  private final ByteArrayOutputStream payload = new ByteArrayOutputStream();
  private final List<byte[]> sent = new ArrayList<>();

  @Test
  void mqtt_6_0_0_4_the_upgrade_is_answered_as_in_the_rfcs_example_and_with_the_mqtt_protocol() {
    receive(bytes(REQUEST));

    assertThat(new String(sent.getFirst(), ISO_8859_1))
        .startsWith("HTTP/1.1 101 Switching Protocols\r\n")
        .contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")
        .contains("Sec-WebSocket-Protocol: mqtt\r\n")
        .endsWith("\r\n\r\n");
  }

  @Test
  void mqtt_6_0_0_3_requests_that_are_no_upgrade_to_mqtt_are_told_what_is_wrong() {
    assertThat(refusal(REQUEST.replace("/mqtt HTTP", "/ HTTP"))).startsWith("HTTP/1.1 404");
    assertThat(refusal(REQUEST.replace("GET", "POST"))).startsWith("HTTP/1.1 405");
    assertThat(refusal(REQUEST.replace("HTTP/1.1", "HTTP/1.0"))).startsWith("HTTP/1.1 400");
    assertThat(refusal(REQUEST.replace("Upgrade: websocket\r\n", ""))).startsWith("HTTP/1.1 426");
    assertThat(refusal(REQUEST.replace("Version: 13", "Version: 8")))
        .startsWith("HTTP/1.1 426")
        .contains("Sec-WebSocket-Version: 13");
    assertThat(refusal(REQUEST.replace("mqttv3.1, mqtt", "chat"))).startsWith("HTTP/1.1 400");
    assertThat(refusal(REQUEST.replace("dGhl", ""))).startsWith("HTTP/1.1 400");
    assertThat(refusal(REQUEST.replace("Host: ", "Host "))).startsWith("HTTP/1.1 400");
    assertThat(refusal(REQUEST.replace("Host: push.example.org\r\n", "")))
        .startsWith("HTTP/1.1 400");
    assertThat(refusal("GET /mqtt HTTP/1.1\r\nX: " + "x".repeat(5_000))).startsWith("HTTP/1.1 431");
  }

  @Test
  void plain_mqtt_on_this_listener_is_closed_without_an_answer() {
    var progress =
        layer.receive(ByteBuffer.wrap(new byte[] {0x10, 0x20, 0, 4}), _ -> {}, sent::add);

    assertThat(progress).isEqualTo(Progress.FINISHED);
    assertThat(sent).isEmpty();
  }

  @Test
  void mqtt_6_0_0_2_payload_comes_through_however_it_is_framed_and_cut() {
    var random = new Random(7);
    var whole = new byte[100_000];
    random.nextBytes(whole);
    var stream = new ByteArrayOutputStream();
    stream.writeBytes(bytes(REQUEST));
    for (int at = 0; at < whole.length; ) {
      int parts = 1 + random.nextInt(3);
      for (int part = 0; part < parts; part++) {
        int length =
            Math.min(whole.length - at, random.nextInt(random.nextBoolean() ? 200 : 70_000));
        boolean last = part == parts - 1;
        stream.writeBytes(
            frame(
                (last ? 0x80 : 0) | (part == 0 ? 2 : 0),
                Arrays.copyOfRange(whole, at, at + length)));
        at += length;
        // A control frame may come between the parts of a message.
        stream.writeBytes(frame(0x89, new byte[] {9}));
      }
    }
    var bytes = stream.toByteArray();

    for (int at = 0; at < bytes.length; ) {
      int length = Math.min(bytes.length - at, 1 + random.nextInt(3_000));
      receive(Arrays.copyOfRange(bytes, at, at + length));
      at += length;
    }

    assertThat(payload.toByteArray()).isEqualTo(whole);
    assertThat(sent.subList(1, sent.size()))
        .allMatch(pong -> Arrays.equals(pong, new byte[] {(byte) 0x8A, 1, 9}));
  }

  @Test
  void mqtt_6_0_0_1_text_and_what_the_rfc_forbids_is_closed_with_its_code() {
    assertThat(closeCode(new byte[] {(byte) 0x82, 1, 0})).as("not masked").isEqualTo(1002);
    assertThat(closeCode(frame(0xC2, new byte[1]))).as("RSV1 without extension").isEqualTo(1002);
    assertThat(closeCode(frame(0x80, new byte[1]))).as("continues nothing").isEqualTo(1002);
    assertThat(closeCode(frame(0x83, new byte[1]))).as("reserved opcode").isEqualTo(1002);
    assertThat(closeCode(frame(0x8B, new byte[1]))).as("reserved control").isEqualTo(1002);
    assertThat(closeCode(frame(0x09, new byte[1]))).as("ping in parts").isEqualTo(1002);
    assertThat(closeCode(frame(0x89, new byte[126]))).as("long ping").isEqualTo(1002);
    assertThat(closeCode(frame(0x81, new byte[1]))).as("text").isEqualTo(1003);
    assertThat(closeCode(new byte[] {(byte) 0x82, (byte) 0xFE, 0, 5}))
        .as("long form")
        .isEqualTo(1002);
    assertThat(closeCode(new byte[] {(byte) 0x82, (byte) 0xFF, 0, 0, 0, 0, 0, 0, 9, 9}))
        .as("longest form")
        .isEqualTo(1002);
    assertThat(closeCode(new byte[] {(byte) 0x82, (byte) 0xFF, 0, 0, 0, 0, 0x10, 0, 0, 0}))
        .as("268 MB declared")
        .isEqualTo(1009);
    assertThat(closeCode(new byte[] {(byte) 0x82, (byte) 0xFF, -1, 0, 0, 0, 0x10, 0, 0, 0}))
        .as("negative length")
        .isEqualTo(1009);
    assertThat(closeCode(frame(0x88, new byte[] {3, (byte) 0xE8}))).as("goodbye").isEqualTo(1000);
    assertThat(closeCode(frame(0x88, new byte[1]))).as("half a code").isEqualTo(1002);
  }

  @Test
  void a_first_frame_while_a_message_is_open_is_refused() {
    receive(bytes(REQUEST));
    receive(frame(0x02, new byte[1]));

    receive(frame(0x82, new byte[1]));

    assertThat(sent.getLast()).containsExactly(0x88, 2, 1002 >> 8, 1002 & 0xFF);
  }

  @Test
  void after_the_last_word_nothing_is_said_or_heard() {
    receive(bytes(REQUEST));
    assertThat(layer.goodbye()).isPresent();
    assertThat(layer.goodbye()).isEmpty();

    receive(frame(0x82, new byte[10]));

    assertThat(payload.size()).isZero();
  }

  @Test
  void lengths_are_written_in_their_shortest_form() {
    assertThat(WebSocketLayer.framed(new byte[125])).hasSize(127).startsWith(0x82, 125);
    assertThat(WebSocketLayer.framed(new byte[126])).hasSize(130).startsWith(0x82, 126, 0, 126);
    assertThat(WebSocketLayer.framed(new byte[65_535]))
        .hasSize(65_539)
        .startsWith(0x82, 126, 0xFF, 0xFF);
    assertThat(WebSocketLayer.framed(new byte[65_536]))
        .hasSize(65_546)
        .startsWith(0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0);
    assertThat(WebSocketLayer.framed(new byte[] {1, 2})).containsExactly(0x82, 2, 1, 2);
  }

  private void receive(byte[] bytes) {
    layer.receive(ByteBuffer.wrap(bytes), this::keep, sent::add);
  }

  private void keep(ByteBuffer part) {
    var bytes = new byte[part.remaining()];
    part.get(bytes);
    payload.writeBytes(bytes);
  }

  private static String refusal(String request) {
    List<byte[]> answers = new ArrayList<>();
    var progress =
        new WebSocketLayer().receive(ByteBuffer.wrap(bytes(request)), _ -> {}, answers::add);
    assertThat(progress).isEqualTo(Progress.FINISHED);
    return new String(answers.getFirst(), ISO_8859_1);
  }

  private static int closeCode(byte[] frame) {
    var layer = new WebSocketLayer();
    List<byte[]> answers = new ArrayList<>();
    layer.receive(ByteBuffer.wrap(bytes(REQUEST)), _ -> {}, answers::add);
    var progress = layer.receive(ByteBuffer.wrap(frame), _ -> {}, answers::add);
    assertThat(progress).isEqualTo(Progress.FINISHED);
    var close = answers.getLast();
    assertThat(close[0] & 0xFF).isEqualTo(0x88);
    return (close[2] & 0xFF) << 8 | (close[3] & 0xFF);
  }

  /// A masked frame, as clients send.
  private static byte[] frame(int first, byte[] content) {
    var frame = new ByteArrayOutputStream();
    var unmasked = WebSocketLayer.framed(content);
    var header = Arrays.copyOf(unmasked, unmasked.length - content.length);
    header[0] = (byte) first;
    header[1] |= (byte) 0x80;
    frame.writeBytes(header);
    frame.writeBytes(MASK);
    for (int index = 0; index < content.length; index++) {
      frame.write(content[index] ^ MASK[index & 3]);
    }
    return frame.toByteArray();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }
}
