package io.pushplanet.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.gateway.credential.Credential.ApnsKey;
import java.nio.charset.StandardCharsets;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import org.junit.jupiter.api.Test;

class CredentialParserTest {
  private final PrivateKey key = key();
  private final String pem =
      "-----BEGIN PRIVATE KEY-----\n"
          + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded())
          + "\n-----END PRIVATE KEY-----\n";

  @Test
  void a_key_is_read_as_its_file_was_saved() {
    String told = "Bag Attributes\n    friendlyName: AuthKey\nKey Attributes: <No Attributes>\n";

    assertThat(parsed(pem)).isEqualTo(key);
    assertThat(parsed(pem.replace("\n", "\r\n"))).isEqualTo(key);
    assertThat(parsed("\uFEFF" + pem)).isEqualTo(key);
    assertThat(parsed(told + pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"))
        .isEqualTo(key);
  }

  @Test
  void a_malformed_key_is_reported_without_the_key() {
    String sec1 = pem.replace(" PRIVATE KEY", " EC PRIVATE KEY");

    assertThatThrownBy(() -> parsed(sec1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("not a private key in PKCS#8 and PEM");
    assertThatThrownBy(() -> parsed(pem.replaceFirst("\n[A-Za-z0-9+/]{8}", "\n")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("not a p8");
  }

  private static PrivateKey parsed(String file) {
    CredentialRow row =
        new CredentialRow(
            1,
            "apns",
            "production",
            "p8",
            "{\"team_id\":\"TEAM123456\",\"key_id\":\"KEY1234567\",\"bundle_id\":\"com.example.shop\"}",
            new byte[0]);
    return ((ApnsKey) CredentialParser.parse(row, file.getBytes(StandardCharsets.UTF_8))).key();
  }

  private static PrivateKey key() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      return generator.generateKeyPair().getPrivate();
    } catch (java.security.GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
