package io.pushplanet.quickstart.services;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MariaDbServerTest {
  /// MariaDB 10.11 on a disk of 40 MB; 25 lines of advice follow.
  private static final String LOG =
      """
      Installing MariaDB/MySQL system tables in './data' ...
      2026-11-22  8:53:04 0 [ERROR] InnoDB: preallocating 100663296 bytes for file ./ib_logfile101 failed with error 28
      2026-11-22  8:53:04 0 [ERROR] Aborting

      Installation of system tables failed!  Examine the logs in
      ./data for more information.

      The problem could be conflicting information in an external
      my.cnf files. You can ignore these by doing:
      """;

  @Test
  void the_error_is_reported_without_the_advice_after_it() {
    assertThat(MariaDbServer.complaint(LOG, 1L << 40))
        .startsWith("2026-11-22  8:53:04 0 [ERROR] InnoDB: preallocating")
        .endsWith("[ERROR] Aborting");
  }

  @Test
  void a_full_disk_is_reported_with_advice() {
    assertThat(MariaDbServer.complaint(LOG, 13L << 20))
        .contains("error 28")
        .contains("13 MB left")
        .contains("200 MB")
        .contains("--state");
  }

  @Test
  void a_log_without_errors_is_reported_unchanged() {
    assertThat(MariaDbServer.complaint("mariadbd: not found", 1L << 40))
        .isEqualTo("mariadbd: not found");
  }
}
