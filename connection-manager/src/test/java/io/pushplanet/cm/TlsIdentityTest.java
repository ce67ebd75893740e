package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.pushplanet.cm.transport.tls.TlsIdentity;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class TlsIdentityTest {
  @Test
  void a_file_that_is_missing_is_said_once_and_the_old_certificate_stays(@TempDir Path directory)
      throws Exception {
    var made = TestCertificate.make(directory);
    var certificate = Files.writeString(directory.resolve("crt"), made.certificatePem());
    var key = Files.writeString(directory.resolve("key"), made.keyPem());
    var identity = TlsIdentity.fromPem(certificate, key);
    Files.delete(key);

    var lines = new ListAppender<ILoggingEvent>();
    var logger = (Logger) LoggerFactory.getLogger(TlsIdentity.class);
    lines.start();
    logger.addAppender(lines);
    try {
      for (int second = 0; second < 5; second++) {
        identity.reloadIfChanged();
      }
    } finally {
      logger.detachAppender(lines);
    }

    assertThat(lines.list)
        .singleElement()
        .satisfies(line ->
            assertThat(line.getFormattedMessage())
                .startsWith("event=tls_certificate_reload_failed"));
    assertThat(identity.notAfter()).isEqualTo(made.certificate().getNotAfter().toInstant());
  }
}
