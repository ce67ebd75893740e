package io.pushplanet.gateway.alert;

import io.pushplanet.gateway.connection.Trust;
import jakarta.mail.Address;
import jakarta.mail.MessagingException;
import jakarta.mail.SendFailedException;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Date;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Hands alerts to a mail server, each on a connection of its own, because they are few. The
/// `Message-ID` is the same at each try. Thread-safe.
final class AlertMail implements AlertChannel {
  private static final Logger LOG = LoggerFactory.getLogger(AlertMail.class);

  private final MailSettings settings;
  private final Duration timeout;
  private final Session session;

  /// @param timeout from connecting until the server has accepted the mail
  /// @throws IllegalArgumentException when the file of authorities cannot be read
  AlertMail(MailSettings settings, Duration timeout) {
    this.settings = settings;
    this.timeout = timeout;
    this.session = Session.getInstance(properties());
  }

  /// The library's own names:
  /// https://eclipse-ee4j.github.io/angus-mail/docs/api/org.eclipse.angus.mail/org/eclipse/angus/mail/smtp/package-summary.html
  private Properties properties() {
    Properties all = new Properties();
    all.put("mail.smtp.host", settings.host());
    all.put("mail.smtp.port", Integer.toString(settings.port()));
    all.put("mail.smtp.auth", Boolean.toString(!settings.user().isEmpty()));
    all.put("mail.smtp.ssl.enable", is(MailSettings.Security.TLS));
    all.put("mail.smtp.starttls.enable", is(MailSettings.Security.STARTTLS));
    all.put("mail.smtp.starttls.required", is(MailSettings.Security.STARTTLS));
    all.put("mail.smtp.ssl.checkserveridentity", "true");
    all.put(
        "mail.smtp.ssl.socketFactory",
        Trust.with("gateway.alerts.mail.trusted-certificates", settings.trustedCertificates())
            .context()
            .getSocketFactory());
    // A wrong address must not keep the mail from the others.
    all.put("mail.smtp.sendpartial", "true");
    // The answer to QUIT says nothing: the server has accepted the mail by then.
    all.put("mail.smtp.quitwait", "false");
    for (String wait : new String[] {"connectiontimeout", "timeout", "writetimeout"}) {
      all.put("mail.smtp." + wait, Long.toString(timeout.toMillis()));
    }
    return all;
  }

  private String is(MailSettings.Security security) {
    return Boolean.toString(settings.security() == security);
  }

  @Override
  public Name name() {
    return Name.MAIL;
  }

  /// Sends on a thread of its own, because the library's deadlines are those of single reads and
  /// writes; the interrupt closes a virtual thread's socket.
  @Override
  public void send(Alert alert) throws IOException {
    FutureTask<Boolean> task = new FutureTask<>(() -> isTakenForAll(alert));
    Thread.ofVirtual().name("alert-mail").start(task);
    try {
      if (!task.get(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.warn(
            "event=alert_mailed_to_some alertId={} action=\"correct gateway.alerts.mail.to\"",
            alert.id());
      }
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    } catch (TimeoutException e) {
      throw new IOException("the mail server did not take it within " + timeout, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      task.cancel(true);
    }
  }

  /// @return false when the server refused some of the addresses
  private boolean isTakenForAll(Alert alert) throws MessagingException {
    MimeMessage mail = mail(alert);
    Transport server = session.getTransport("smtp");
    try {
      if (settings.user().isEmpty()) {
        server.connect();
      } else {
        server.connect(settings.user(), settings.password().reveal());
      }
      server.sendMessage(mail, mail.getAllRecipients());
      return true;
    } catch (SendFailedException e) {
      Address[] taken = e.getValidSentAddresses();
      if (taken == null || taken.length == 0) {
        throw e;
      }
      return false;
    } finally {
      leave(server, alert);
    }
  }

  /// Leaves the server. The mail's fate is decided by then.
  private static void leave(Transport server, Alert alert) {
    try {
      server.close();
    } catch (MessagingException e) {
      LOG.debug("event=alert_mail_not_closed alertId={} reason=\"{}\"", alert.id(), e.toString());
    }
  }

  private MimeMessage mail(Alert alert) throws MessagingException {
    String id = "<alert-%d-%d@%s>".formatted(alert.id(), alert.at().toEpochMilli(), domain());
    MimeMessage mail =
        new MimeMessage(session) {
          @Override
          protected void updateMessageID() throws MessagingException {
            setHeader("Message-ID", id);
          }
        };
    mail.setFrom(new InternetAddress(settings.from()));
    for (String to : settings.to()) {
      mail.addRecipient(MimeMessage.RecipientType.TO, new InternetAddress(to));
    }
    mail.setSubject(
        "Push Planet: %s, app %s, %s"
            .formatted(alert.kind().replace('_', ' '), alert.app(), alert.subject()),
        StandardCharsets.UTF_8.name());
    mail.setText(
        "%s%n%nApp: %s%nAbout: %s%nTime: %s%n"
            .formatted(alert.text(), alert.app(), alert.subject(), alert.at()),
        StandardCharsets.UTF_8.name());
    mail.setSentDate(Date.from(alert.at()));
    // Keeps holiday notices from answering it (https://www.rfc-editor.org/rfc/rfc3834#section-5).
    mail.setHeader("Auto-Submitted", "auto-generated");
    mail.saveChanges();
    return mail;
  }

  private String domain() {
    return settings.from().replaceAll(".*@|>", "");
  }
}
