package io.pushplanet.gateway.alert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.pushplanet.common.access.Secret;
import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Trust;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AlertWebhookTest {
  private static final Alert ALERT =
      new Alert(
          1,
          "credential_paused",
          "shop",
          "apns/production",
          "refused",
          Instant.parse("2026-11-21T10:00:00Z"));

  private final AtomicInteger posted = new AtomicInteger();
  private HttpServer receiver;

  @BeforeEach
  void start() throws IOException {
    receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.start();
  }

  @AfterEach
  void stop() {
    receiver.stop(0);
  }

  @Test
  void a_long_answer_of_success_accepts_an_alert() {
    assertThatCode(() -> send(200, 10_000_000)).doesNotThrowAnyException();

    assertThat(posted).hasValue(1);
  }

  @Test
  void a_long_answer_of_failure_does_not_accept_an_alert() {
    assertThatThrownBy(() -> send(500, 10_000_000))
        .isInstanceOf(IOException.class)
        .hasMessage("HTTP 500");
  }

  private void send(int status, int bytes) throws IOException {
    receiver.createContext(
        "/alerts",
        exchange -> {
          posted.incrementAndGet();
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(status, bytes);
          try (var body = exchange.getResponseBody()) {
            body.write(new byte[bytes]);
          }
        });
    URI url = URI.create("http://127.0.0.1:" + receiver.getAddress().getPort() + "/alerts");
    AlertSettings settings =
        new AlertSettings(
            url,
            new Secret("c2VjcmV0"),
            new MailSettings(
                "", 587, MailSettings.Security.STARTTLS, "", new Secret(""), "", List.of(), null),
            Duration.ofSeconds(30),
            Duration.ofDays(1),
            Duration.ofSeconds(1),
            Duration.ofDays(90));
    new AlertWebhook(url, settings, new LiveRequest(Trust.ofJdk().context()), Clock.systemUTC())
        .send(ALERT);
  }
}
