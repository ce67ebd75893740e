package io.pushplanet.common.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SignerTest {
  private final MasterKey key = MasterKey.parse(MasterKey.generate(new SecureRandom()));

  @Test
  void concurrent_signers_sign_as_their_key_does() {
    MasterKey.Signer signer = key.signer("purpose");

    assertThat(IntStream.range(0, 2_000).parallel().mapToObj(SignerTest::bytes))
        .allSatisfy(data -> assertThat(signer.sign(data)).isEqualTo(key.sign("purpose", data)));
    assertThat(signer.sign(bytes(1))).isNotEqualTo(key.signer("another").sign(bytes(1)));
  }

  private static byte[] bytes(int number) {
    return ("data " + number).repeat(1 + number % 20).getBytes(StandardCharsets.UTF_8);
  }
}
