package io.pushplanet.common.wire;

import java.util.Arrays;

/// Why a node refuses to bring a message to a device. Its word is what travels, and the reason that the timeline shows; a gateway
/// that does not know a word takes it for a refusal of this time.
public enum Refusal {
  /// Longer than the device's Maximum Packet Size.
  TOO_LONG("too_long_for_device", true),
  /// The device answered with a failure.
  BY_DEVICE("refused_by_device", true),
  /// The device's queue is full.
  QUEUE_FULL("device_queue_full", false),
  /// The node has too much under way.
  NODE_BUSY("node_busy", false),
  /// The frame has no such letter.
  NO_LETTER("no_letter", false);

  private final String word;
  private final boolean forGood;

  Refusal(String word, boolean forGood) {
    this.word = word;
    this.forGood = forGood;
  }

  public String word() {
    return word;
  }

  /// Whether the device will never take this message: it is not to be sent to it again.
  public boolean isForGood() {
    return forGood;
  }

  /// The same of a word from another process, which may be of another version.
  public static boolean isForGood(String word) {
    return Arrays.stream(values()).anyMatch(one -> one.forGood && one.word.equals(word));
  }
}
