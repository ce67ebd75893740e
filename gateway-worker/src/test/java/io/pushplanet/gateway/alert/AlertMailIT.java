package io.pushplanet.gateway.alert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import io.pushplanet.common.access.Secret;
import io.pushplanet.gateway.alert.MailServer.Manner;
import io.pushplanet.gateway.alert.MailSettings.Security;
import io.pushplanet.simulators.tls.Authority;
import jakarta.mail.internet.MimeMessage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Alerts at real SMTP servers: GreenMail, and one that refuses and stays silent.
class AlertMailIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final Alert ALERT =
      new Alert(
          7,
          "credential_expires",
          "shop",
          "apns/production",
          "This certificate ends within 7 days. 배송",
          Instant.parse("2026-11-21T10:00:00Z"));

  @TempDir static Path folder;

  @Test
  void every_address_gets_an_alert_and_two_tries_are_one_mail() throws Exception {
    GreenMail server = new GreenMail(ServerSetup.SMTP.dynamicPort());
    server.setUser("alerts@example.com", "alerts", "right");
    server.getUserManager().setAuthRequired(true);
    server.start();
    try {
      int port = server.getSmtp().getPort();
      AlertMail mail = new AlertMail(settings(Security.NONE, port, "right", null), TIMEOUT);

      mail.send(ALERT);
      mail.send(ALERT);

      MimeMessage[] received = server.getReceivedMessages();
      assertThat(received).hasSize(4);
      assertThat(Arrays.stream(received).map(AlertMailIT::id).distinct())
          .containsExactly("<alert-7-1795255200000@example.com>");
      MimeMessage first = received[0];
      assertThat(first.getSubject())
          .isEqualTo("Push Planet: credential expires, app shop, apns/production");
      assertThat(first.getContent().toString())
          .contains("ends within 7 days. 배송")
          .contains("Time: 2026-11-21T10:00:00Z");
      assertThat(first.getHeader("Auto-Submitted")).containsExactly("auto-generated");
      assertThat(first.getFrom())
          .extracting(Object::toString)
          .containsExactly("Push Planet <alerts@example.com>");
      assertThat(first.getAllRecipients())
          .extracting(Object::toString)
          .containsExactly("ops@example.com", "second@example.com");
      assertThatThrownBy(() ->
              new AlertMail(settings(Security.NONE, port, "wrong", null), TIMEOUT).send(ALERT))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("AuthenticationFailed");
    } finally {
      server.stop();
    }
  }

  @Test
  void starttls_comes_before_the_mail_and_a_refused_address_stops_no_other() throws Exception {
    Authority authority = Authority.in(folder, Clock.systemUTC());
    try (MailServer server = new MailServer(Manner.STARTTLS, authority)) {
      MailSettings settings =
          new MailSettings(
              "localhost",
              server.port(),
              Security.STARTTLS,
              "",
              new Secret(""),
              "alerts@example.com",
              List.of(MailServer.REFUSED, "ops@example.com"),
              authority.pem());

      new AlertMail(settings, TIMEOUT).send(ALERT);

      assertThat(server.plain).hasSize(2).last().isEqualTo("STARTTLS");
      assertThat(server.recipients()).hasSize(2);
      assertThat(server.sealed).anyMatch(line -> line.startsWith("Message-ID: <alert-7-"));
    }
  }

  @Test
  void over_tls_only_a_server_of_a_trusted_authority_is_told() throws Exception {
    Authority authority = Authority.in(folder, Clock.systemUTC());
    try (MailServer server = new MailServer(Manner.TLS, authority)) {
      new AlertMail(settings(Security.TLS, server.port(), "", authority.pem()), TIMEOUT)
          .send(ALERT);
      assertThat(server.recipients()).hasSize(2);

      assertThatThrownBy(() ->
              new AlertMail(settings(Security.TLS, server.port(), "", null), TIMEOUT).send(ALERT))
          .isInstanceOf(IOException.class);
      assertThat(server.recipients()).hasSize(2);
    }
  }

  @Test
  void a_server_without_starttls_is_told_nothing() throws Exception {
    try (MailServer server =
        new MailServer(Manner.PLAIN, Authority.in(folder, Clock.systemUTC()))) {
      assertThatThrownBy(() ->
              new AlertMail(settings(Security.STARTTLS, server.port(), "secret", null), TIMEOUT)
                  .send(ALERT))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("STARTTLS");
      assertThat(server.plain).allMatch(line -> line.startsWith("EHLO") || line.equals("QUIT"));
    }
  }

  @Test
  void an_accepted_mail_counts_despite_the_answer_to_quit() throws Exception {
    try (MailServer server =
        new MailServer(Manner.MUTE_AT_QUIT, Authority.in(folder, Clock.systemUTC()))) {
      AlertMail mail =
          new AlertMail(settings(Security.NONE, server.port(), "", null), Duration.ofSeconds(15));

      assertThatCode(() -> mail.send(ALERT)).doesNotThrowAnyException();

      assertThat(server.plain).contains(".");
    }
  }

  @Test
  void a_silent_server_is_left_at_the_deadline() throws Exception {
    try (MailServer server =
        new MailServer(Manner.SILENT, Authority.in(folder, Clock.systemUTC()))) {
      assertThatThrownBy(() ->
              new AlertMail(
                      settings(Security.NONE, server.port(), "", null), Duration.ofMillis(200))
                  .send(ALERT))
          .isInstanceOf(IOException.class);
    }
  }

  private static String id(MimeMessage mail) {
    try {
      return mail.getMessageID();
    } catch (jakarta.mail.MessagingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static MailSettings settings(
      Security security, int port, String password, @Nullable Path trusted) {
    return new MailSettings(
        "localhost",
        port,
        security,
        password.isEmpty() ? "" : "alerts",
        new Secret(password),
        "Push Planet <alerts@example.com>",
        List.of("ops@example.com", "second@example.com"),
        trusted);
  }
}
