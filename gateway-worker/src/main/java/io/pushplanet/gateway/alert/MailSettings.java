package io.pushplanet.gateway.alert;

import io.pushplanet.common.access.Secret;
import jakarta.mail.internet.AddressException;
import jakarta.mail.internet.InternetAddress;
import jakarta.validation.constraints.AssertTrue;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/// The mail server that takes alerts.
///
/// @param host the mail server's host name; empty: no mail is sent
/// @param port 587 for `starttls`, most often 465 for `tls`
/// @param security `starttls`, which the server must offer; `tls` from the first byte; `none` for a
///     server on the same machine
/// @param user the account to log in with at the mail server; empty: no login
/// @param password password of `gateway.alerts.mail.user`
/// @param from the sender's address
/// @param to the addresses that get each alert
/// @param trustedCertificates authorities besides the JDK's, a PEM file
record MailSettings(
    @NotNull @DefaultValue("") String host,
    @Positive @Max(65_535) @DefaultValue("587") int port,
    @NotNull @DefaultValue("starttls") Security security,
    @NotNull @DefaultValue("") String user,
    @NotNull @DefaultValue("") Secret password,
    @NotNull @DefaultValue("") String from,
    @NotNull @DefaultValue List<String> to,
    @Nullable Path trustedCertificates) {
  /// How the connection is secured.
  enum Security {
    STARTTLS,
    TLS,
    NONE
  }

  MailSettings {
    to = List.copyOf(to);
  }

  boolean isOn() {
    return !host.isEmpty();
  }

  @AssertTrue(
      message =
          "gateway.alerts.mail: host, from and to belong together: give all three, or none of them for no mail")
  boolean isWhole() {
    return isOn() != from.isEmpty() && isOn() != to.isEmpty();
  }

  @AssertTrue(message = "gateway.alerts.mail: user and password belong together")
  boolean isLoginWhole() {
    return user.isEmpty() == password.reveal().isEmpty();
  }

  @AssertTrue(
      message =
          "gateway.alerts.mail: from and to must be addresses such as Push Planet <alerts@example.com>")
  boolean isAddressed() {
    return (from.isEmpty() || isAddress(from)) && to.stream().allMatch(MailSettings::isAddress);
  }

  private static boolean isAddress(String text) {
    try {
      InternetAddress address = new InternetAddress(text, true);
      return address.getAddress().contains("@");
    } catch (AddressException _) {
      return false;
    }
  }
}
