package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListenOverflowsTest {
  @TempDir private Path directory;
  private Path netstat;
  private ListenOverflows overflows;

  @BeforeEach
  void open() {
    netstat = directory.resolve("netstat");
    overflows = new ListenOverflows(netstat);
  }

  @Test
  void overflows_from_before_the_start_are_not_new() throws Exception {
    counted(17);

    assertThat(overflows.haveRisen()).isFalse();
    assertThat(overflows.haveRisen()).isFalse();
    counted(18);
    assertThat(overflows.haveRisen()).isTrue();
    assertThat(overflows.haveRisen()).isFalse();
  }

  @Test
  void a_file_that_could_not_be_read_for_a_while_does_not_make_old_overflows_new()
      throws Exception {
    counted(17);
    assertThat(overflows.haveRisen()).isFalse();
    Files.delete(netstat);
    assertThat(overflows.haveRisen()).isFalse();

    counted(17);
    assertThat(overflows.haveRisen()).isFalse();
    Files.delete(netstat);
    assertThat(overflows.haveRisen()).isFalse();
    counted(18);
    assertThat(overflows.haveRisen()).isTrue();
  }

  @Test
  void a_kernel_that_does_not_count_overflows_has_none() throws Exception {
    Files.writeString(netstat, "IpExt: InNoRoutes\nIpExt: 4\n");

    assertThat(overflows.haveRisen()).isFalse();
  }

  private void counted(int times) throws IOException {
    Files.writeString(
        netstat,
        """
        TcpExt: SyncookiesSent ListenOverflows ListenDrops
        TcpExt: 0 %d 18
        IpExt: InNoRoutes
        IpExt: 4
        """
            .formatted(times));
  }
}
