package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrustTest {
  private static final String SETTING = "gateway.fcm.trusted-certificates";

  @TempDir private Path directory;

  @Test
  void a_missing_file_is_told_with_its_setting() {
    Path missing = directory.resolve("missing.pem");

    assertThatIllegalArgumentException()
        .isThrownBy(() -> Trust.with(SETTING, missing))
        .withMessage(
            "%s: cannot read %s: java.nio.file.NoSuchFileException: %s", SETTING, missing, missing);
  }

  @Test
  void a_file_without_a_certificate_is_told_with_its_setting() throws Exception {
    Path empty = Files.createFile(directory.resolve("empty.pem"));

    assertThatIllegalArgumentException()
        .isThrownBy(() -> Trust.with(SETTING, empty))
        .withMessage("%s: %s holds no certificate in PEM form", SETTING, empty);
  }
}
