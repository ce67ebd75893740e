package io.pushplanet.gateway.webpush;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BrowserSubscriptionTest {
  private static final String OFF_THE_CURVE =
      Browsers.P256DH.substring(0, Browsers.P256DH.length() - 2) + "AA";

  @ParameterizedTest
  @CsvSource({
    "https://Push.Example.net/a/b?c=%2F, https://push.example.net, push.example.net, 443, /a/b?c=%2F",
    "https://push.example.net:443, https://push.example.net, push.example.net, 443, /",
    "https://push.example.net:8443/x, https://push.example.net:8443, push.example.net, 8443, /x",
    "https://[2001:db8::1]/x, https://[2001:db8::1], 2001:db8::1, 443, /x"
  })
  void an_endpoint_has(String endpoint, String origin, String host, int port, String target) {
    BrowserSubscription browser = Browsers.at(endpoint);

    assertThat(browser.origin()).isEqualTo(origin);
    assertThat(browser.host()).isEqualTo(host);
    assertThat(browser.port()).isEqualTo(port);
    assertThat(browser.target()).isEqualTo(target);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://a:0/x",
        "https://a:65536/x",
        "http://a/x",
        "ftp://a",
        "https:///x",
        "https://user@a/x",
        "a",
        "",
        "https://a b"
      })
  void an_endpoint_that_is_no_https_url_is_refused(String endpoint) {
    assertThatThrownBy(() -> Browsers.at(endpoint)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void keys_that_no_browser_has_are_refused() {
    String endpoint = "https://a/x";

    assertThatThrownBy(
            () -> BrowserSubscription.parse(Browsers.json(endpoint, OFF_THE_CURVE, Browsers.AUTH)))
        .hasMessageContaining("p256dh");
    assertThatThrownBy(
            () -> BrowserSubscription.parse(Browsers.json(endpoint, Browsers.P256DH, "AAAA")))
        .hasMessageContaining("auth");
    assertThatThrownBy(() -> BrowserSubscription.parse("{"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
