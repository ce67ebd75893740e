package io.pushplanet.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.credential.Credential.ApnsCertificate;
import java.time.Duration;
import javax.net.ssl.KeyManager;
import org.junit.jupiter.api.Test;

class RefusalNewsTest {
  private static final AppId SHOP = new AppId("shop");
  private static final Credential KEYS = certificate("one");

  private final MutableClock clock = MutableClock.started();
  private final RefusalNews news = new RefusalNews(clock);

  @Test
  void a_refusal_of_every_message_is_logged_once_an_hour() {
    assertThat(news.isNews(SHOP, KEYS, "Forbidden")).isTrue();
    for (int i = 0; i < 100; i++) {
      assertThat(news.isNews(SHOP, KEYS, "Forbidden")).isFalse();
    }

    clock.advance(RefusalNews.TOLD_EVERY.minus(Duration.ofSeconds(1)));
    assertThat(news.isNews(SHOP, KEYS, "Forbidden")).isFalse();
    clock.advance(Duration.ofSeconds(1));
    assertThat(news.isNews(SHOP, KEYS, "Forbidden")).isTrue();
  }

  @Test
  void another_reason_another_secret_and_another_app_are_news() {
    assertThat(news.isNews(SHOP, KEYS, "Forbidden")).isTrue();

    assertThat(news.isNews(SHOP, KEYS, "BadCertificate")).isTrue();
    assertThat(news.isNews(SHOP, certificate("another"), "Forbidden")).isTrue();
    assertThat(news.isNews(new AppId("bank"), KEYS, "Forbidden")).isTrue();
  }

  private static Credential certificate(String fingerprint) {
    return new ApnsCertificate("com.example", new KeyManager[0], fingerprint);
  }
}
