package io.pushplanet.common.wire;

import java.util.Arrays;

/// Why a node refuses to deliver a message to a device. Its word is sent to the gateway and is the
/// reason in the timeline; a gateway takes an unknown word for a temporary refusal.
public enum Refusal {
  /// Longer than the device's Maximum Packet Size.
  TOO_LONG("too_long_for_device", true),
  /// The device answered with a failure.
  BY_DEVICE("refused_by_device", true),
  /// The device's queue is full.
  QUEUE_FULL("device_queue_full", false),
  /// The node has too many messages in flight.
  NODE_BUSY("node_busy", false),
  /// The frame has no message at the target's index.
  NO_MESSAGE("no_letter", false);

  private final String word;
  private final boolean forGood;

  Refusal(String word, boolean forGood) {
    this.word = word;
    this.forGood = forGood;
  }

  public String word() {
    return word;
  }

  /// Whether the device will never take this message, so that it is not sent again.
  public boolean isForGood() {
    return forGood;
  }

  /// The same for a word from another process, possibly of another version.
  public static boolean isForGood(String word) {
    return Arrays.stream(values()).anyMatch(one -> one.forGood && one.word.equals(word));
  }
}
