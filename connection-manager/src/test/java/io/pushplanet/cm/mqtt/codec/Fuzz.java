package io.pushplanet.cm.mqtt.codec;

import java.util.Arrays;
import java.util.Random;

/// A run of random rounds. It prints its seed, so that `-Dseed=N` repeats a failure;
/// `-Dfuzz.rounds=N` sets the number of rounds.
record Fuzz(long seed, Random random, int rounds) {

  static Fuzz of(String what, int rounds) {
    long seed = Long.getLong("seed", System.nanoTime());
    int wanted = Integer.getInteger("fuzz.rounds", rounds);
    System.out.printf("%s: rounds=%d seed=%d (again with -Dseed=%d)%n", what, wanted, seed, seed);
    return new Fuzz(seed, new Random(seed), wanted);
  }

  /// The packet with one to four changes: a byte, a bit, an extreme, or the end cut off.
  byte[] mutate(byte[] packet) {
    var bytes = packet.clone();
    for (int count = random.nextInt(4); count >= 0; count--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(4)) {
        case 0 -> bytes[at] = (byte) random.nextInt(256);
        case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> bytes = Arrays.copyOf(bytes, 1 + random.nextInt(bytes.length));
        default -> bytes[at] = (byte) (random.nextBoolean() ? 0xFF : 0);
      }
    }
    return bytes;
  }

  /// As above, but with the right remaining length, so that the change reaches the code that reads
  /// the body.
  byte[] mutateWithin(byte[] packet) {
    var bytes = mutate(packet);
    int header = 2;
    while (header < bytes.length && header < 5 && (packet[header - 1] & 0x80) != 0) {
      header++;
    }
    int length = bytes.length - header;
    if (length < 0 || header != headerFor(length)) {
      return bytes;
    }
    for (int index = 1, rest = length; index < header; index++, rest >>>= 7) {
      bytes[index] = (byte) ((rest & 0x7F) | (index < header - 1 ? 0x80 : 0));
    }
    return bytes;
  }

  private static int headerFor(int length) {
    return length < 128 ? 2 : length < 16_384 ? 3 : 4;
  }
}
