package io.pushplanet.load.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class ReportTest {
  @TempDir private Path directory;

  @Test
  void the_file_has_the_form_of_every_bench() throws IOException {
    Report report =
        new Report(
            "accept",
            Instant.parse("2026-11-21T05:00:00Z"),
            "abc",
            "./pushplanet bench accept",
            "2 x CPU",
            List.of(
                Report.Row.of("accepts", "1/s", 1234.567),
                new Report.Row("p99", "ms", 5, 6.0, 4.0)));

    Path file = report.write(directory);

    assertThat(file).hasFileName("accept.json");
    assertThat(JsonMapper.shared().readTree(Files.readString(file)))
        .isEqualTo(
            JsonMapper.shared()
                .readTree(
                    """
                    {"name": "accept", "at": "2026-11-21T05:00:00Z", "commit": "abc",
                     "command": "./pushplanet bench accept", "machine": "2 x CPU",
                     "rows": [{"metric": "accepts", "unit": "1/s", "value": 1234.57},
                              {"metric": "p99", "unit": "ms", "value": 5.0, "peer": 6.0, "goal": 4.0}]}
                    """));
  }

  @Test
  void the_table_shows_every_figure() {
    Report report =
        new Report(
            "a", Instant.EPOCH, "c", "d", "m", List.of(Report.Row.of("accepts", "1/s", 9876)));

    assertThat(report.table()).isEqualTo("accepts       9,876.00 1/s\n");
  }
}
