package io.pushplanet.common.session;

import io.pushplanet.common.access.MasterKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;

/// With what one of our processes shows a node, on its management port, that it may give orders:
/// `v1.<expiry, epoch seconds>.<HMAC-SHA256>`. It holds for one node and [#VALIDITY], so that one that was overheard is soon
/// worthless. Thread-safe.
public final class NodePass {
  /// Long enough for clocks that are half a minute apart.
  public static final Duration VALIDITY = Duration.ofMinutes(1);

  private static final String VERSION = "v1";

  private final MasterKey masterKey;
  private final Clock clock;

  public NodePass(MasterKey masterKey, Clock clock) {
    this.masterKey = masterKey;
    this.clock = clock;
  }

  public String mint(NodeId node) {
    long expiry = clock.instant().plus(VALIDITY).getEpochSecond();
    return VERSION + "." + expiry + "." + signature(masterKey, node, expiry);
  }

  /// Whether the pass was made by us for this node, and still holds.
  public boolean isValid(NodeId node, String pass) {
    String[] parts = pass.split("\\.", -1);
    if (parts.length != 3 || !parts[0].equals(VERSION) || !parts[1].matches("[0-9]{1,12}")) {
      return false;
    }
    long expiry = Long.parseLong(parts[1]);
    byte[] shown = parts[2].getBytes(StandardCharsets.UTF_8);
    return masterKey.currentAndFormer().stream()
            .map(key -> signature(key, node, expiry).getBytes(StandardCharsets.US_ASCII))
            .anyMatch(expected -> MessageDigest.isEqual(expected, shown))
        && clock.instant().isBefore(Instant.ofEpochSecond(expiry));
  }

  private static String signature(MasterKey key, NodeId node, long expiry) {
    byte[] signed = (node.value() + "\0" + expiry).getBytes(StandardCharsets.UTF_8);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(key.sign("node-pass", signed));
  }
}
