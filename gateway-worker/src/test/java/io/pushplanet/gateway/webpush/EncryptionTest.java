package io.pushplanet.gateway.webpush;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.crypto.tink.subtle.EllipticCurves;
import com.google.crypto.tink.subtle.EllipticCurves.CurveType;
import com.google.crypto.tink.subtle.EllipticCurves.PointFormatType;
import io.pushplanet.common.message.target.WebPushSubscription;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import org.junit.jupiter.api.Test;

class EncryptionTest {
  private static final BrowserSubscription BROWSER = Browsers.at("https://push.example.net/p");

  @Test
  void the_example_of_rfc_8291_comes_out_byte_for_byte() throws Exception {
    KeyPair ephemeral =
        new KeyPair(
            EllipticCurves.getEcPublicKey(
                CurveType.NIST_P256,
                PointFormatType.UNCOMPRESSED,
                bytes(
                    "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")),
            EllipticCurves.getEcPrivateKey(
                CurveType.NIST_P256, bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")));

    byte[] body =
        Encryption.seal(
            "When I grow up, I want to be a watermelon".getBytes(StandardCharsets.US_ASCII),
            BROWSER,
            ephemeral,
            bytes("DGv6ra1nlYgDCS1FRnbzlw"));

    assertThat(Base64.getUrlEncoder().withoutPadding().encodeToString(body))
        .isEqualTo(
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"
                + "InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyou"
                + "BWLVWGNWQexSgSxsj_Qulcy4a-fN");
  }

  @Test
  void the_longest_message_fills_the_body_and_one_byte_more_is_refused() {
    Encryption encryption = new Encryption(new SecureRandom());

    assertThat(encryption.seal(new byte[WebPushSubscription.LARGEST_MESSAGE_BYTES], BROWSER))
        .hasSize(Encryption.LARGEST_BODY_BYTES);
    assertThatThrownBy(
            () -> encryption.seal(new byte[WebPushSubscription.LARGEST_MESSAGE_BYTES + 1], BROWSER))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void no_two_messages_share_a_salt_or_a_key() {
    Encryption encryption = new Encryption(new SecureRandom());

    byte[] one = encryption.seal(new byte[1], BROWSER);
    byte[] other = encryption.seal(new byte[1], BROWSER);

    assertThat(Arrays.copyOf(one, 16)).isNotEqualTo(Arrays.copyOf(other, 16));
    assertThat(Arrays.copyOfRange(one, 21, 86)).isNotEqualTo(Arrays.copyOfRange(other, 21, 86));
  }

  private static byte[] bytes(String base64url) {
    return Base64.getUrlDecoder().decode(base64url);
  }
}
