package io.pushplanet.common.session;

import io.pushplanet.common.access.MasterKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;

/// The pass by which one of our processes proves to a node's management port that it may give
/// orders: `v1.<expiry, epoch seconds>.<HMAC-SHA256>`. It is valid for one node and [#VALIDITY], so
/// that a stolen pass is soon worthless. Thread-safe.
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

  /// Whether one of our processes made the pass for this node, and it has not expired.
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
