package io.pushplanet.load.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;

class AcceptLineTest {
  @Test
  void the_lines_of_all_sockets_at_a_port_add_up() throws IOException {
    String table =
        """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:1F90 00000000:0000 0A 00000000:000003E8 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0
           1: 0100007F:0016 00000000:0000 0A 00000000:00000007 00:00000000 00000000     0        0 12 1 0 100 0 0 10 0
           2: 0100007F:1F90 00000000:0000 0A 00000000:0000000A 00:00000000 00000000     0        0 13 1 0 100 0 0 10 0
           3: 0100007F:1F90 0100007F:C001 01 00000000:00000FFF 00:00000000 00000000     0        0 14 1 0 100 0 0 10 0
        """;

    assertThat(AcceptLine.waiting(new BufferedReader(new StringReader(table)), 8080))
        .isEqualTo(1_010);
  }

  @Test
  void connections_that_nobody_accepts_wait_in_the_line() throws IOException {
    try (var listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      assertThat(AcceptLine.waiting(listener.getLocalPort())).isZero();

      try (var one = new Socket(listener.getInetAddress(), listener.getLocalPort());
          var two = new Socket(listener.getInetAddress(), listener.getLocalPort())) {
        assertThat(AcceptLine.waiting(listener.getLocalPort())).isEqualTo(2);

        listener.accept().close();
        assertThat(AcceptLine.waiting(listener.getLocalPort())).isEqualTo(1);
        assertThat(one.isConnected() && two.isConnected()).isTrue();
      }
    }
  }
}
