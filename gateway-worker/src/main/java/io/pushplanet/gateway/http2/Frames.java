package io.pushplanet.gateway.http2;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/// Writes HTTP/2 frames (RFC 9113, section 6), several of them into one buffer: a promise and a
/// buffer for each frame cost more than the frame.
final class Frames {
  static final byte DATA = 0x0;
  static final byte HEADERS = 0x1;
  static final byte RST_STREAM = 0x3;
  static final byte SETTINGS = 0x4;
  static final byte PING = 0x6;
  static final byte GOAWAY = 0x7;
  static final byte WINDOW_UPDATE = 0x8;
  static final byte CONTINUATION = 0x9;

  static final int END_STREAM = 0x1;
  static final int ACK = 0x1;
  static final int END_HEADERS = 0x4;

  /// The largest frame that every peer accepts.
  static final int LARGEST = 16_384;

  static final int HEAD_BYTES = 9;

  private static final int ENABLE_PUSH = 0x2;
  private static final int INITIAL_WINDOW_SIZE = 0x4;
  private static final int MAX_HEADER_LIST_SIZE = 0x6;
  private static final int SETTING_BYTES = 6;
  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private Frames() {}

  static void head(ByteBuf out, int length, byte type, int flags, int stream) {
    out.writeMedium(length);
    out.writeByte(type);
    out.writeByte(flags);
    out.writeInt(stream);
  }

  /// The bytes with which a client begins.
  static void preface(ByteBuf out, int streamWindow, int connectionWindow, int longestHeaders) {
    out.writeBytes(PREFACE);
    head(out, 3 * SETTING_BYTES, SETTINGS, 0, 0);
    out.writeShort(ENABLE_PUSH);
    out.writeInt(0);
    out.writeShort(INITIAL_WINDOW_SIZE);
    out.writeInt(streamWindow);
    out.writeShort(MAX_HEADER_LIST_SIZE);
    out.writeInt(longestHeaders);
    windowUpdate(out, 0, connectionWindow - 65_535);
  }

  /// Writes a header block, which `write` appends, into as many frames as it needs.
  static void headers(ByteBuf out, int stream, boolean last, Runnable write) {
    int start = out.writerIndex();
    head(out, 0, HEADERS, last ? END_STREAM : 0, stream);
    int blockStart = out.writerIndex();
    write.run();
    int length = out.writerIndex() - blockStart;
    if (length <= LARGEST) {
      out.setMedium(start, length);
      out.setByte(start + 4, END_HEADERS | (last ? END_STREAM : 0));
      return;
    }
    byte[] rest = new byte[length - LARGEST];
    out.getBytes(blockStart + LARGEST, rest);
    out.setMedium(start, LARGEST);
    out.writerIndex(blockStart + LARGEST);
    for (int from = 0; from < rest.length; from += LARGEST) {
      int part = Math.min(LARGEST, rest.length - from);
      head(out, part, CONTINUATION, from + part == rest.length ? END_HEADERS : 0, stream);
      out.writeBytes(rest, from, part);
    }
  }

  static void data(ByteBuf out, int stream, byte[] body, int from, int length, boolean last) {
    head(out, length, DATA, last ? END_STREAM : 0, stream);
    out.writeBytes(body, from, length);
  }

  static void reset(ByteBuf out, int stream, long error) {
    head(out, Integer.BYTES, RST_STREAM, 0, stream);
    out.writeInt((int) error);
  }

  static void settingsAck(ByteBuf out) {
    head(out, 0, SETTINGS, ACK, 0);
  }

  static void ping(ByteBuf out, boolean ack, long content) {
    head(out, Long.BYTES, PING, ack ? ACK : 0, 0);
    out.writeLong(content);
  }

  static void goAway(ByteBuf out, long error) {
    head(out, 2 * Integer.BYTES, GOAWAY, 0, 0);
    out.writeInt(0);
    out.writeInt((int) error);
  }

  static void windowUpdate(ByteBuf out, int stream, int increment) {
    head(out, Integer.BYTES, WINDOW_UPDATE, 0, stream);
    out.writeInt(increment);
  }
}
