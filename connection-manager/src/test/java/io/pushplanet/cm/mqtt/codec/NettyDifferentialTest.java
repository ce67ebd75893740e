package io.pushplanet.cm.mqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Our codec against Netty's, which thousands of brokers and clients use. Netty is the more lenient
/// of the two: it accepts ill-formed UTF-8, U+0000, DUP at QoS 0, repeated properties, lengths
/// written longer than needed and the like. So the promise is one-sided: each packet that we
/// accept, Netty accepts, too, with the same meaning. The one exception: codes in CONNACK, SUBACK
/// and UNSUBACK, which only a server sends, are a closed list there and numbers here, so a packet
/// with a code that Netty does not name is left out ([NettyOracle#namesAllCodes]).
class NettyDifferentialTest {
  private static final PacketLimits LIMITS = PacketLimits.UNAUTHENTICATED;

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void netty_reads_what_we_write(MqttVersion version) {
    var fuzz = Fuzz.of("ours to netty " + version, 4_000);
    var packets = new RandomPackets(fuzz.random());
    for (int round = 0; round < fuzz.rounds(); round++) {
      var packet = packets.next(version);
      var bytes = new PacketEncoder().encode(packet, version);

      var read = NettyOracle.decode(bytes, version, packet instanceof MqttPacket.Connect);

      assertThat(read).as(say(fuzz, round, bytes)).contains(packet);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void we_read_what_netty_writes(MqttVersion version) {
    var fuzz = Fuzz.of("netty to ours " + version, 4_000);
    var packets = new RandomPackets(fuzz.random());
    for (int round = 0; round < fuzz.rounds(); round++) {
      var packet = packets.next(version);
      var bytes = NettyOracle.encode(packet, version);

      var read = decode(bytes, version, packet instanceof MqttPacket.Connect);

      assertThat(read).as(say(fuzz, round, bytes)).isEqualTo(new DecodeOutcome.Decoded(packet));
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void whatever_we_take_of_mutated_bytes_netty_takes_in_the_same_meaning(MqttVersion version) {
    var fuzz = Fuzz.of("mutated against netty " + version, 30_000);
    var packets = new RandomPackets(fuzz.random());
    int taken = 0;
    var kinds = new HashSet<Class<?>>();
    for (int round = 0; round < fuzz.rounds(); round++) {
      var original = packets.next(version);
      var written = new PacketEncoder().encode(original, version);
      var bytes = fuzz.random().nextBoolean() ? fuzz.mutate(written) : fuzz.mutateWithin(written);
      boolean connecting = original instanceof MqttPacket.Connect;
      if (!(decode(bytes, version, connecting) instanceof DecodeOutcome.Decoded(var packet))
          || !NettyOracle.namesAllCodes(packet)) {
        continue;
      }
      taken++;
      kinds.add(packet.getClass());

      var read = NettyOracle.decode(bytes, version, connecting);

      assertThat(read).as(say(fuzz, round, bytes)).contains(packet);
    }
    assertThat(taken).isPositive();
    assertThat(kinds)
        .contains(MqttPacket.ConnAck.class, MqttPacket.SubAck.class, MqttPacket.UnsubAck.class);
  }

  private static DecodeOutcome decode(byte[] bytes, MqttVersion version, boolean connecting) {
    return new PacketDecoder().decode(ByteBuffer.wrap(bytes), connecting ? null : version, LIMITS);
  }

  private static String say(Fuzz fuzz, int round, byte[] bytes) {
    return "seed %d round %d: %s"
        .formatted(fuzz.seed(), round, HexFormat.ofDelimiter(" ").formatHex(bytes));
  }
}
