package io.pushplanet.cm.transport.websocket;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import io.pushplanet.cm.transport.websocket.UpgradeOutcome.Refused;
import io.pushplanet.cm.transport.websocket.UpgradeOutcome.Upgraded;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/// The HTTP request that opens a WebSocket (https://www.rfc-editor.org/rfc/rfc6455#section-4.2.1),
/// with the subprotocol that MQTT prescribes
/// (https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901285). Stateless.
final class Upgrade {
  /// The longest request, headers and all.
  static final int MAX_BYTES = 4 * 1024;

  private static final String PATH = "/mqtt";
  private static final String PROTOCOL = "mqtt";
  private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  private static final int KEY_BYTES = 16;

  private Upgrade() {}

  /// @param request up to and with the empty line
  static UpgradeOutcome read(byte[] request, int length) {
    String[] lines = new String(request, 0, length, ISO_8859_1).split("\r\n", -1);
    String[] start = lines[0].split(" ", -1);
    if (start.length != 3 || !start[2].equals("HTTP/1.1")) {
      return refused("400 Bad Request", "", "speak HTTP/1.1");
    }
    if (!start[0].equals("GET")) {
      return refused(
          "405 Method Not Allowed", "Allow: GET\r\n", "open a WebSocket with GET " + PATH);
    }
    int query = start[1].indexOf('?');
    if (!(query < 0 ? start[1] : start[1].substring(0, query)).equals(PATH)) {
      return refused("404 Not Found", "", "MQTT is at " + PATH);
    }
    Map<String, String> headers = new HashMap<>();
    for (int index = 1; index < lines.length && !lines[index].isEmpty(); index++) {
      int colon = lines[index].indexOf(':');
      String name = colon < 1 ? "" : lines[index].substring(0, colon).toLowerCase(Locale.ROOT);
      if (!name.matches("[!#$%&'*+.^_`|~0-9a-z-]+")) {
        return refused("400 Bad Request", "", "a header is malformed");
      }
      headers.merge(
          name, lines[index].substring(colon + 1).strip(), (one, more) -> one + "," + more);
    }
    return judge(headers);
  }

  private static UpgradeOutcome judge(Map<String, String> headers) {
    if (!names(headers, "upgrade", "websocket") || !names(headers, "connection", "upgrade")) {
      return refused(
          "426 Upgrade Required",
          "Upgrade: websocket\r\n",
          "this port speaks MQTT over WebSocket only");
    }
    if (!headers.getOrDefault("sec-websocket-version", "").equals("13")) {
      return refused("426 Upgrade Required", "Sec-WebSocket-Version: 13\r\n", "use version 13");
    }
    if (!headers.containsKey("host")) {
      return refused("400 Bad Request", "", "Host is missing");
    }
    String key = headers.getOrDefault("sec-websocket-key", "");
    if (!isKey(key)) {
      return refused("400 Bad Request", "", "Sec-WebSocket-Key must be 16 bytes in base64");
    }
    if (Stream.of(headers.getOrDefault("sec-websocket-protocol", "").split(","))
        .noneMatch(offered -> offered.strip().equals(PROTOCOL))) {
      return refused("400 Bad Request", "", "offer Sec-WebSocket-Protocol: " + PROTOCOL);
    }
    return new Upgraded(
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: "
                + accept(key)
                + "\r\nSec-WebSocket-Protocol: "
                + PROTOCOL
                + "\r\n\r\n")
            .getBytes(US_ASCII));
  }

  static Refused tooLong() {
    return refused(
        "431 Request Header Fields Too Large", "", "at most " + MAX_BYTES + " bytes of headers");
  }

  private static boolean names(Map<String, String> headers, String header, String token) {
    return Stream.of(headers.getOrDefault(header, "").split(","))
        .anyMatch(value -> value.strip().equalsIgnoreCase(token));
  }

  private static boolean isKey(String key) {
    try {
      return Base64.getDecoder().decode(key).length == KEY_BYTES;
    } catch (IllegalArgumentException noBase64) {
      return false;
    }
  }

  private static String accept(String key) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-1").digest((key + GUID).getBytes(US_ASCII));
      return Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException never) {
      throw new IllegalStateException("this JDK lacks SHA-1", never);
    }
  }

  private static Refused refused(String status, String header, String why) {
    return new Refused(
        ("HTTP/1.1 "
                + status
                + "\r\n"
                + header
                + "Connection: close\r\nContent-Type: text/plain\r\nContent-Length: "
                + (why.length() + 1)
                + "\r\n\r\n"
                + why
                + "\n")
            .getBytes(US_ASCII));
  }
}
