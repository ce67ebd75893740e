package io.pushplanet.quickstart.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// With a folder in place of `/proc`.
class ProcessStartTest {
  private static final ProcessHandle SELF = ProcessHandle.current();

  @TempDir private Path proc;

  @Test
  void the_start_comes_from_the_kernel_and_not_from_the_clock() throws IOException {
    boot("0c4e");
    stat("(java)", 4_711);

    assertThat(new ProcessStart(proc).read(SELF)).contains("ticks:4711 boot:0c4e");
  }

  @Test
  void a_name_with_blanks_and_parentheses_does_not_shift_it() throws IOException {
    boot("0c4e");
    stat("(a) b (c)", 4_711);

    assertThat(new ProcessStart(proc).read(SELF)).contains("ticks:4711 boot:0c4e");
  }

  @Test
  void the_same_ticks_after_another_boot_are_another_start() throws IOException {
    stat("(java)", 4_711);
    boot("0c4e");
    var before = new ProcessStart(proc).read(SELF);

    boot("97b1");

    assertThat(new ProcessStart(proc).read(SELF)).isPresent().isNotEqualTo(before);
  }

  @Test
  void an_ended_process_has_no_start() throws IOException {
    boot("0c4e");

    assertThat(new ProcessStart(proc).read(SELF)).isEmpty();
  }

  @Test
  void without_proc_the_start_comes_from_the_clock() {
    assertThat(new ProcessStart(proc.resolve("nowhere")).read(SELF))
        .contains("millis:" + SELF.info().startInstant().orElseThrow().toEpochMilli());
  }

  private void boot(String id) throws IOException {
    Path file = proc.resolve("sys/kernel/random/boot_id");
    Files.createDirectories(file.getParent());
    Files.writeString(file, id + "\n");
  }

  private void stat(String name, long start) throws IOException {
    Path folder = Files.createDirectories(proc.resolve(Long.toString(SELF.pid())));
    Files.writeString(
        folder.resolve("stat"),
        SELF.pid()
            + " "
            + name
            + " S 1 7 7 0 -1 4194560 1 0 0 0 6 7 8 9 20 0 31 0 "
            + start
            + " 1000 200 1\n");
  }
}
