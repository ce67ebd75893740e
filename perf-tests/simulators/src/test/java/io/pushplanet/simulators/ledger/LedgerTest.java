package io.pushplanet.simulators.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class LedgerTest {
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-11-21T00:00:00Z"), ZoneOffset.UTC);

  @TempDir Path directory;

  @Test
  void a_page_holds_the_entries_after_a_number() {
    try (Ledger ledger = Ledger.in(directory, CLOCK)) {
      for (int i = 1; i <= 2_500; i++) {
        add(ledger, i % 2 == 0 ? "even" : "odd");
      }

      List<LedgerEntry> tail = ledger.page(2_490, "");

      assertThat(tail).extracting(LedgerEntry::seq).startsWith(2_491L).endsWith(2_500L);
      assertThat(ledger.entries("even")).hasSize(1_250);
    }
  }

  @Test
  void a_line_torn_by_a_crash_is_cut_off_and_numbering_goes_on() throws IOException {
    try (Ledger ledger = Ledger.in(directory, CLOCK)) {
      add(ledger, "a");
      add(ledger, "b");
    }
    Files.writeString(
        directory.resolve("ledger.ndjson"), "{\"seq\":3,\"at\":\"2026", StandardOpenOption.APPEND);

    try (Ledger ledger = Ledger.in(directory, CLOCK)) {
      LedgerEntry next = add(ledger, "c");

      assertThat(next.seq()).isEqualTo(3);
      assertThat(ledger.entries("")).extracting(LedgerEntry::token).containsExactly("a", "b", "c");
      assertThat(ledger.summary().values()).containsExactly(3L);
    }
  }

  @Test
  void clearing_keeps_the_numbers_growing() {
    try (Ledger ledger = Ledger.in(directory, CLOCK)) {
      add(ledger, "a");
      ledger.clear();

      assertThat(ledger.entries("")).isEmpty();
      assertThat(add(ledger, "b").seq()).isEqualTo(2);
      assertThat(ledger.page(1, "")).hasSize(1);
    }
  }

  private static LedgerEntry add(Ledger ledger, String token) {
    return ledger.append(
        Simulated.FCM,
        token,
        "id",
        200,
        "",
        true,
        Map.of(),
        JsonMapper.shared().createObjectNode());
  }
}
