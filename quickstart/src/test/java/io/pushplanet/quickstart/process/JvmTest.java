package io.pushplanet.quickstart.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JvmTest {
  private static final int HELD = 20_000_000;

  @TempDir private Path directory;

  @Test
  void live_objects_of_another_jvm_are_counted_and_garbage_is_not() throws IOException {
    Path program =
        Files.writeString(
            directory.resolve("Holder.java"),
            """
            class Holder {
              public static void main(String[] arguments) throws Exception {
                byte[] held = new byte[%1$d];
                byte[] garbage = new byte[%1$d];
                garbage = null;
                var direct = java.nio.ByteBuffer.allocateDirect(%1$d);
                System.out.println("ready");
                System.in.read();
                System.out.println(held.length + direct.capacity());
              }
            }
            """
                .formatted(HELD));
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                program.toString())
            .start();
    try (var output = process.inputReader(StandardCharsets.UTF_8);
        Jvm jvm = attachWhenReady(process, output.readLine())) {

      long live = jvm.liveBytes();
      long direct = jvm.directBytes();

      // The compiler of the source file has live objects as well.
      assertThat(live).isBetween((long) HELD, HELD + 18_000_000L);
      assertThat(direct).isBetween((long) HELD, HELD + 1_000_000L);
    } finally {
      process.destroyForcibly();
    }
  }

  private static Jvm attachWhenReady(Process process, String line) {
    assertThat(line).isEqualTo("ready");
    return Jvm.attach(process.pid());
  }
}
