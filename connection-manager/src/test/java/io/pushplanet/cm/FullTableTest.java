package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The benchmark's program that fills a table with a million sessions must follow changes of the
/// node.
class FullTableTest {
  private static final Pattern HEAP_BYTES = Pattern.compile("heap_bytes=(\\d+)");

  @Test
  void a_table_is_filled_with_authenticated_and_subscribed_sessions() throws Exception {
    var filled = FullTable.fill(2_500);

    assertThat(filled.sessions()).isEqualTo(2_500);
  }

  /// A session's connection, link, session object and place in the table, without the socket. Exact
  /// to the byte, where `IdleSessionMemoryIT` must allow for all other work of a node.
  @Test
  void a_session_costs_at_most_290_bytes_of_our_own() throws Exception {
    long bytes = heapBytes(21_000) - heapBytes(1_000);

    assertThat(bytes / 20_000).as("bytes per session").isBetween(145L, 290L);
  }

  /// In a process of its own, whose collector leaves no gaps, clears soft references, and reserves
  /// no heap for threads.
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
