package io.pushplanet.cm.mqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Random packets, whole and broken. More of them with `-Dfuzz.rounds=N`.
class CodecFuzzTest {

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void random_packets_survive_being_written_and_read(MqttVersion version) {
    var fuzz = Fuzz.of("round trip " + version, 20_000);
    var packets = new RandomPackets(fuzz.random());
    for (int round = 0; round < fuzz.rounds(); round++) {
      var packet = packets.next(version);
      var input = ByteBuffer.wrap(new PacketEncoder().encode(packet, version));

      var outcome = decode(input, packet, version);

      if (!new DecodeOutcome.Decoded(packet).equals(outcome) || input.hasRemaining()) {
        throw new AssertionError(fuzz.seed() + " round " + round + ": " + packet + outcome);
      }
    }
  }

  /// Whatever the bytes, the decoder returns one of its three outcomes, consumes at most one
  /// packet, and an accepted packet is written again unchanged.
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mutated_packets_never_escape_the_outcomes(MqttVersion version) {
    var fuzz = Fuzz.of("mutated " + version, 100_000);
    var packets = new RandomPackets(fuzz.random());
    int decoded = 0;
    int refused = 0;
    for (int round = 0; round < fuzz.rounds(); round++) {
      var packet = packets.next(version);
      var written = new PacketEncoder().encode(packet, version);
      var bytes = fuzz.random().nextBoolean() ? fuzz.mutate(written) : fuzz.mutateWithin(written);
      var input = ByteBuffer.wrap(bytes);

      var outcome = decode(input, packet, version);

      switch (outcome) {
        case DecodeOutcome.Incomplete _ -> assertThat(input.position()).isZero();
        case DecodeOutcome.Refused(var reason, _, _) -> {
          refused++;
          assertThat(reason.isFailure()).isTrue();
        }
        case DecodeOutcome.Decoded(var read) -> {
          decoded++;
          var spoken = read instanceof MqttPacket.Connect connect ? connect.version() : version;
          var again = ByteBuffer.wrap(new PacketEncoder().encode(read, spoken));
          assertThat(decode(again, packet, version))
              .as("seed %d round %d", fuzz.seed(), round)
              .isEqualTo(outcome);
        }
      }
    }
    assertThat(decoded).isPositive();
    assertThat(refused).isPositive();
  }

  private static DecodeOutcome decode(ByteBuffer input, MqttPacket original, MqttVersion version) {
    var before = original instanceof MqttPacket.Connect ? null : version;
    return new PacketDecoder().decode(input, before, PacketLimits.UNAUTHENTICATED);
  }
}
