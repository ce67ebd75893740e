package io.pushplanet.common.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class Sha256Test {
  @Test
  void hashes_the_examples_of_the_standard() {
    // https://csrc.nist.gov/csrc/media/projects/cryptographic-standards-and-guidelines/documents/examples/sha256.pdf
    assertThat(Sha256.hex("abc".getBytes(StandardCharsets.US_ASCII)))
        .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assertThat(Sha256.of("abc"))
        .isEqualTo(
            HexFormat.of()
                .parseHex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  }

  @Test
  void hashes_a_text_as_utf_8() {
    assertThat(Sha256.of("é")).isEqualTo(Sha256.of(new byte[] {(byte) 0xc3, (byte) 0xa9}));
  }
}
