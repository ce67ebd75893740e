package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.tls.TlsIdentity;
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.common.testing.MutableClock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsIdentityTest {
  @TempDir private Path directory;
  private final MutableClock clock = new MutableClock(Instant.now());
  private TestCertificate made;
  private TlsIdentity identity;

  @BeforeEach
  void load() throws Exception {
    made = TestCertificate.make(directory);
    write(made);
    identity = TlsIdentity.fromPem(certificate(), key(), clock);
  }

  @Test
  void a_file_that_is_missing_is_said_once_and_the_old_certificate_stays() throws Exception {
    Files.delete(key());

    try (var lines = new LogLines(TlsIdentity.class)) {
      for (int second = 0; second < 5; second++) {
        identity.reloadIfChanged();
      }

      assertThat(lines.said())
          .singleElement()
          .satisfies(line -> assertThat(line).startsWith("event=tls_certificate_reload_failed"));
    }
    assertThat(identity.notAfter()).isEqualTo(end(made));
  }

  @Test
  void node_apn_292_a_certificate_that_expires_while_it_is_in_use_is_said_once() {
    try (var lines = new LogLines(TlsIdentity.class)) {
      clock.advance(Duration.between(clock.instant(), end(made)));
      identity.reloadIfChanged();
      assertThat(lines.said()).isEmpty();

      for (int second = 0; second < 5; second++) {
        clock.advance(Duration.ofSeconds(1));
        identity.reloadIfChanged();
      }

      assertThat(lines.said())
          .singleElement()
          .satisfies(line ->
              assertThat(line).startsWith("event=tls_certificate_expired not_after=" + end(made)));
    }
    assertThat(identity.notAfter()).isEqualTo(end(made));
  }

  @Test
  void parse_server_push_adapter_65_an_expired_certificate_does_not_replace_a_valid_one()
      throws Exception {
    var expired = TestCertificate.make(directory, 10, 5);
    try (var lines = new LogLines(TlsIdentity.class)) {
      write(expired);
      identity.reloadIfChanged();

      assertThat(lines.said())
          .singleElement()
          .satisfies(line ->
              assertThat(line)
                  .startsWith("event=tls_certificate_reload_failed")
                  .contains("expired at " + end(expired)));
    }
    assertThat(identity.notAfter()).isEqualTo(end(made));

    var renewed = TestCertificate.make(directory, 0, 30);
    write(renewed);
    identity.reloadIfChanged();
    assertThat(identity.notAfter()).isEqualTo(end(renewed));
  }

  @Test
  void where_the_certificate_in_use_has_expired_the_files_are_shown_whatever_they_are()
      throws Exception {
    clock.advance(Duration.ofDays(3));
    var expired = TestCertificate.make(directory, 10, 5);
    write(expired);

    identity.reloadIfChanged();

    assertThat(identity.notAfter()).isEqualTo(end(expired));
  }

  private void write(TestCertificate shown) throws Exception {
    Files.writeString(certificate(), shown.certificatePem());
    Files.writeString(key(), shown.keyPem());
  }

  private Path certificate() {
    return directory.resolve("crt");
  }

  private Path key() {
    return directory.resolve("key");
  }

  private static Instant end(TestCertificate of) {
    return of.certificate().getNotAfter().toInstant();
  }
}
