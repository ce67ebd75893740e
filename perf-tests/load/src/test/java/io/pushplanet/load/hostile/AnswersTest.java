package io.pushplanet.load.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.load.mqtt.MalformedPacket;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class AnswersTest {
  private static final byte[] CONNACK = {0x20, 2, 0, 0};
  private static final byte[] REFUSED = {0x20, 2, 0, 5};
  private static final byte[] PINGRESP = {(byte) 0xD0, 0};
  private static final byte[] SUBACK = {(byte) 0x90, 3, 0, 1, 0};
  private static final String SWITCHED =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";

  @Test
  void pings_are_counted_among_other_packets_however_they_are_cut() {
    byte[] bytes = together(CONNACK, PINGRESP, SUBACK, PINGRESP, long5000(), PINGRESP);

    for (int piece : new int[] {1, 2, 7, bytes.length}) {
      Answers answers = read(false, bytes, piece);

      assertThat(answers.isAdmitted()).isTrue();
      assertThat(answers.pings()).isEqualTo(3);
    }
  }

  @Test
  void a_refused_connect_is_no_admission() {
    assertThat(read(false, REFUSED, 4).isAdmitted()).isFalse();
    assertThat(read(false, new byte[0], 4).isAdmitted()).isFalse();
  }

  @Test
  void a_packet_without_its_rest_does_not_count() {
    assertThat(read(false, new byte[] {(byte) 0xD0}, 1).pings()).isZero();
  }

  @Test
  void packets_in_frames_are_read_however_the_frames_cut_them() {
    byte[] packets = together(CONNACK, PINGRESP, long5000(), PINGRESP);
    byte[] bytes =
        together(
            SWITCHED.getBytes(StandardCharsets.US_ASCII),
            frame(2, packets, 0, 5),
            frame(9, PINGRESP, 0, 2),
            frame(2, packets, 5, packets.length),
            frame(8, PINGRESP, 0, 2));

    for (int piece : new int[] {1, 3, bytes.length}) {
      Answers answers = read(true, bytes, piece);

      assertThat(answers.isAdmitted()).isTrue();
      assertThat(answers.pings()).isEqualTo(2);
    }
  }

  @Test
  void nothing_is_read_after_a_refused_upgrade() {
    byte[] head = "HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    Answers answers = read(true, together(head, CONNACK, frame(2, CONNACK, 0, 4)), 1_000);

    assertThat(answers.isAdmitted()).isFalse();
  }

  @Test
  void what_is_not_mqtt_is_told() {
    assertThatThrownBy(() -> read(false, new byte[] {0x30, -1, -1, -1, -1, 1}, 6))
        .isInstanceOf(MalformedPacket.class);
  }

  @Test
  void the_packets_before_a_ping_and_the_one_that_ended_the_connection_are_judged() {
    var pipeline = new Pipeline(new byte[0], 3, true);
    Answers two = read(false, together(CONNACK, PINGRESP, PINGRESP), 100);
    Answers three = read(false, together(CONNACK, PINGRESP, PINGRESP, PINGRESP), 100);

    assertThat(pipeline.judged(two, true)).isEqualTo(3);
    assertThat(pipeline.judged(two, false)).isEqualTo(2);
    assertThat(pipeline.judged(three, true)).isEqualTo(3);
  }

  @Test
  void nothing_behind_a_refused_login_is_judged() {
    Answers refused = read(false, REFUSED, 4);

    assertThat(new Pipeline(new byte[0], 3, true).judged(refused, true)).isZero();
    assertThat(new Pipeline(new byte[0], 3, false).judged(refused, true)).isEqualTo(1);
  }

  private static Answers read(boolean webSocket, byte[] bytes, int piece) {
    Answers answers = new Answers(webSocket);
    for (int from = 0; from < bytes.length; from += piece) {
      int count = Math.min(piece, bytes.length - from);
      byte[] some = new byte[count];
      System.arraycopy(bytes, from, some, 0, count);
      answers.add(some, count);
    }
    return answers;
  }

  /// A PUBLISH of 5,000 bytes, full of what looks like PINGRESPs.
  private static byte[] long5000() {
    byte[] packet = new byte[3 + 5_000];
    for (int index = 3; index < packet.length; index += 2) {
      packet[index] = (byte) 0xD0;
    }
    packet[0] = 0x30;
    packet[1] = (byte) (5_000 % 128 | 0x80);
    packet[2] = (byte) (5_000 / 128);
    return packet;
  }

  private static byte[] frame(int kind, byte[] from, int start, int end) {
    int length = end - start;
    var frame = new ByteArrayOutputStream();
    frame.write(0x80 | kind);
    if (length < 126) {
      frame.write(length);
    } else {
      frame.write(126);
      frame.write(length >>> 8);
      frame.write(length);
    }
    frame.write(from, start, length);
    return frame.toByteArray();
  }

  private static byte[] together(byte[]... parts) {
    var all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }
}
