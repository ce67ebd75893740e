package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpsAddressTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://api.push.apple.com:443",
        "https://10.0.0.7/alerts?token=secret",
        "HTTPS://simulators:2197",
        "http://localhost:8080/alerts",
        "http://LOCALHOST",
        "http://127.0.0.1:8080",
        "http://127.1.2.3",
        "http://[::1]:8080"
      })
  void https_to_anywhere_and_http_to_this_machine_are_taken(String address) {
    assertThatCode(() -> HttpsAddress.check("gateway.x", URI.create(address)))
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "secret",
        "/secret",
        "localhost:99",
        "https:secret",
        "https:///secret",
        "ftp://localhost/secret",
        "http://example.com/secret",
        "http://localhost.example.com/secret",
        "http://127.0.0.1.example.com/secret",
        "http://localhost@example.com/secret"
      })
  void another_address_is_refused_by_its_settings_name_alone(String address) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HttpsAddress.check("gateway.x", URI.create(address)))
        .withMessageStartingWith("gateway.x must be https:// and a host")
        .withMessageNotContaining("secret")
        .withNoCause();
  }
}
