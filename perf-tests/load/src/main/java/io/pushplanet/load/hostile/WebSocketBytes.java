package io.pushplanet.load.hostile;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.util.random.RandomGenerator;

/// What a client of MQTT over WebSocket writes around its packets
/// (https://www.rfc-editor.org/rfc/rfc6455).
final class WebSocketBytes {
  static final byte[] UPGRADE =
      ("GET /mqtt HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
              + "Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Version: 13\r\n\r\n")
          .getBytes(US_ASCII);

  private static final int BINARY = 0x82;
  private static final int MASKED = 0x80;
  private static final int TWO_BYTES_OF_LENGTH = 126;

  private WebSocketBytes() {}

  /// One masked binary frame.
  static byte[] frame(byte[] payload, RandomGenerator random) {
    var frame = new ByteArrayOutputStream(payload.length + 14);
    frame.write(BINARY);
    if (payload.length < TWO_BYTES_OF_LENGTH) {
      frame.write(MASKED | payload.length);
    } else {
      frame.write(MASKED | TWO_BYTES_OF_LENGTH);
      frame.write(payload.length >>> 8);
      frame.write(payload.length);
    }
    byte[] mask = new byte[4];
    random.nextBytes(mask);
    frame.writeBytes(mask);
    for (int index = 0; index < payload.length; index++) {
      frame.write(payload[index] ^ mask[index & 3]);
    }
    return frame.toByteArray();
  }

  /// The header of a frame of 268,435,455 bytes.
  static byte[] declaring268Megabytes() {
    return new byte[] {(byte) BINARY, -1, 0, 0, 0, 0, 0x0F, -1, -1, -1, 1, 2, 3, 4};
  }
}
