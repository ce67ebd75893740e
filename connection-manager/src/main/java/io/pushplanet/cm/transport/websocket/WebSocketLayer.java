package io.pushplanet.cm.transport.websocket;

import io.pushplanet.cm.transport.websocket.UpgradeOutcome.Refused;
import io.pushplanet.cm.transport.websocket.UpgradeOutcome.Upgraded;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One connection's WebSocket, the server's side of https://www.rfc-editor.org/rfc/rfc6455. MQTT
/// packets need not align with frames, so payload is unmasked in place and passed on as it arrives:
/// frames are never assembled, and a frame's declared length costs nothing. Only the request, an
/// incomplete header and a control frame (125 bytes) are kept. Confined to its event loop.
public final class WebSocketLayer {
  /// The longest frame that a client may announce; far above any packet that MQTT would accept.
  static final long MAX_FRAME_BYTES = 1 << 20;

  private static final int CONTINUATION = 0;
  private static final int TEXT = 1;
  private static final int BINARY = 2;
  private static final int CLOSE = 8;
  private static final int PING = 9;
  private static final int PONG = 10;
  private static final int FIN = 0x80;
  private static final int MASKED = 0x80;
  private static final int MAX_CONTROL_BYTES = 125;
  private static final int TWO_BYTE_LENGTH = 126;
  private static final int EIGHT_BYTE_LENGTH = 127;
  private static final int MASK_BYTES = 4;

  /// Close codes of https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1
  private static final int NORMAL = 1000;

  private static final int PROTOCOL_ERROR = 1002;
  private static final int UNSUPPORTED = 1003;
  private static final int TOO_BIG = 1009;

  /// Whether the connection goes on after [#receive].
  public enum Progress {
    OPEN,
    /// The last frame has been sent: flush and close.
    FINISHED
  }

  private final byte[] header = new byte[2 + Long.BYTES + MASK_BYTES];
  private byte @Nullable [] request = new byte[256];
  private byte @Nullable [] control;
  private int had;
  private int opcode;
  private boolean inMessage;
  private long left;
  private int maskAt;
  private boolean finished;

  /// Takes all of `input`. Passes payload to `payload` and answers (the upgrade, pongs, closes) to
  /// `send`.
  public Progress receive(ByteBuffer input, Consumer<ByteBuffer> payload, Consumer<byte[]> send) {
    while (input.hasRemaining() && !finished) {
      if (request != null) {
        readRequest(request, input, send);
      } else if (had < headerLength()) {
        header[had++] = input.get();
        int code = had >= 2 ? headerFault() : 0;
        if (code != 0) {
          finish(code, send);
        } else if (had >= 2 && had == headerLength()) {
          begin(send);
        }
      } else {
        readPayload(input, payload, send);
      }
    }
    if (finished) {
      input.position(input.limit());
    }
    return finished ? Progress.FINISHED : Progress.OPEN;
  }

  /// One whole binary frame with this payload.
  public static byte[] framed(byte[] payload) {
    byte[] frame = frame(BINARY, payload.length, payload.length);
    System.arraycopy(payload, 0, frame, frame.length - payload.length, payload.length);
    return frame;
  }

  /// Whether the last frame was sent: nothing may follow it.
  public boolean isFinished() {
    return finished;
  }

  /// Our close frame, unless the last frame was sent.
  public Optional<byte[]> goodbye() {
    boolean speaks = !finished && request == null;
    finished = true;
    return speaks ? Optional.of(closeFrame(NORMAL)) : Optional.empty();
  }

  private void readRequest(byte[] held, ByteBuffer input, Consumer<byte[]> send) {
    byte[] bytes = held;
    while (input.hasRemaining()) {
      if (had == Upgrade.MAX_BYTES) {
        refuse(Upgrade.tooLong(), send);
        return;
      }
      if (had == bytes.length) {
        bytes = Arrays.copyOf(bytes, bytes.length * 2);
        request = bytes;
      }
      bytes[had++] = input.get();
      if (bytes[0] < 'A' || bytes[0] > 'Z') {
        // The peer does not speak HTTP, most likely MQTT, so it would not understand an HTTP
        // answer.
        finished = true;
        return;
      }
      if (endsRequest(bytes)) {
        switch (Upgrade.read(bytes, had)) {
          case Refused refused -> refuse(refused, send);
          case Upgraded(byte[] answer) -> {
            request = null;
            had = 0;
            send.accept(answer);
          }
        }
        return;
      }
    }
  }

  private boolean endsRequest(byte[] bytes) {
    return had >= 4
        && bytes[had - 1] == '\n'
        && bytes[had - 2] == '\r'
        && bytes[had - 3] == '\n'
        && bytes[had - 4] == '\r';
  }

  private void refuse(Refused refused, Consumer<byte[]> send) {
    finished = true;
    send.accept(refused.answer());
  }

  private int headerLength() {
    return 2
        + switch (had < 2 ? 0 : header[1] & 0x7F) {
          case TWO_BYTE_LENGTH -> Short.BYTES;
          case EIGHT_BYTE_LENGTH -> Long.BYTES;
          default -> 0;
        }
        + MASK_BYTES;
  }

  /// Returns 0 or the close code. Checked with every byte of the header, so that the first wrong
  /// byte ends the connection.
  private int headerFault() {
    int code = header[0] & 0x0F;
    boolean whole = (header[0] & FIN) != 0;
    int length = header[1] & 0x7F;
    boolean isControl = code >= CLOSE;
    if ((header[0] & 0x70) != 0 || (header[1] & MASKED) == 0) {
      return PROTOCOL_ERROR;
    }
    if (isControl && (!whole || length > MAX_CONTROL_BYTES || code > PONG)) {
      return PROTOCOL_ERROR;
    }
    if (code == TEXT) {
      return UNSUPPORTED;
    }
    if (!isControl && (code > BINARY || inMessage != (code == CONTINUATION))) {
      return PROTOCOL_ERROR;
    }
    int lengthEnd = headerLength() - MASK_BYTES;
    if (had < lengthEnd) {
      return 0;
    }
    long declared = declaredLength();
    boolean couldBeShorter =
        length == EIGHT_BYTE_LENGTH
            ? declared >>> 16 == 0
            : length == TWO_BYTE_LENGTH && declared < TWO_BYTE_LENGTH;
    if (couldBeShorter) {
      return PROTOCOL_ERROR;
    }
    return declared < 0 || declared > MAX_FRAME_BYTES ? TOO_BIG : 0;
  }

  private long declaredLength() {
    int length = header[1] & 0x7F;
    if (length < TWO_BYTE_LENGTH) {
      return length;
    }
    long declared = 0;
    for (int index = 2; index < headerLength() - MASK_BYTES; index++) {
      declared = declared << 8 | (header[index] & 0xFF);
    }
    return declared;
  }

  private void begin(Consumer<byte[]> send) {
    opcode = header[0] & 0x0F;
    left = declaredLength();
    maskAt = 0;
    if (opcode < CLOSE) {
      inMessage = (header[0] & FIN) == 0;
    } else {
      control = new byte[(int) left];
    }
    if (left == 0) {
      end(send);
    }
  }

  private void readPayload(ByteBuffer input, Consumer<ByteBuffer> payload, Consumer<byte[]> send) {
    int count = (int) Math.min(left, input.remaining());
    ByteBuffer part = input.slice(input.position(), count);
    input.position(input.position() + count);
    unmask(part);
    left -= count;
    byte[] held = control;
    if (held == null) {
      payload.accept(part);
    } else {
      part.get(held, held.length - (int) left - count, count);
    }
    if (left == 0) {
      end(send);
    }
  }

  private void unmask(ByteBuffer part) {
    int mask = headerLength() - MASK_BYTES;
    for (int index = 0; index < part.limit(); index++) {
      part.put(index, (byte) (part.get(index) ^ header[mask + maskAt]));
      maskAt = (maskAt + 1) & 3;
    }
  }

  private void end(Consumer<byte[]> send) {
    byte[] held = control;
    control = null;
    had = 0;
    if (held == null || opcode == PONG) {
      return;
    }
    if (opcode == PING) {
      byte[] pong = frame(PONG, held.length, held.length);
      System.arraycopy(held, 0, pong, pong.length - held.length, held.length);
      send.accept(pong);
    } else {
      finish(held.length == 1 ? PROTOCOL_ERROR : NORMAL, send);
    }
  }

  private void finish(int code, Consumer<byte[]> send) {
    finished = true;
    send.accept(closeFrame(code));
  }

  private static byte[] closeFrame(int code) {
    byte[] close = frame(CLOSE, Short.BYTES, Short.BYTES);
    close[close.length - 2] = (byte) (code >> 8);
    close[close.length - 1] = (byte) code;
    return close;
  }

  private static byte[] frame(int opcode, int length, int room) {
    int extra = length < TWO_BYTE_LENGTH ? 0 : length <= 0xFFFF ? Short.BYTES : Long.BYTES;
    var frame = new byte[2 + extra + room];
    frame[0] = (byte) (FIN | opcode);
    frame[1] =
        (byte) (extra == 0 ? length : extra == Short.BYTES ? TWO_BYTE_LENGTH : EIGHT_BYTE_LENGTH);
    for (int index = 0; index < Math.min(extra, Integer.BYTES); index++) {
      frame[1 + extra - index] = (byte) (length >> (Byte.SIZE * index));
    }
    return frame;
  }
}
