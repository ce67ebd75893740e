package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The program that a benchmark fills a table with a million sessions with must keep up with the node.
class FullTableTest {
  private static final Pattern HEAP_BYTES = Pattern.compile("heap_bytes=(\\d+)");

  @Test
  void a_table_is_filled_with_authenticated_and_subscribed_sessions() throws Exception {
    var filled = FullTable.fill(2_500);

    assertThat(filled.sessions()).isEqualTo(2_500);
  }

  /// Its connection, link, session and place in the table, without the socket. To the byte, where `IdleSessionMemoryIT` has
  /// to leave room for all else that a node does.
  @Test
  void a_session_costs_at_most_290_bytes_of_our_own() throws Exception {
    long bytes = heapBytes(21_000) - heapBytes(1_000);

    assertThat(bytes / 20_000).as("bytes per session").isBetween(145L, 290L);
  }

  /// Of a process of its own, which leaves no gaps, takes what is only softly reachable, and gives no thread a piece of the
  /// heap in advance.
  private static long heapBytes(int sessions) throws Exception {
    var process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:MarkSweepDeadRatio=0",
                "-XX:SoftRefLRUPolicyMSPerMB=0",
                "-XX:-UseTLAB",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseCompactObjectHeaders",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                FullTable.class.getName(),
                Integer.toString(sessions))
            .redirectErrorStream(true)
            .start();
    var told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    var figure = HEAP_BYTES.matcher(told);
    assertThat(figure.find()).as(told).isTrue();
    return Long.parseLong(figure.group(1));
  }
}
