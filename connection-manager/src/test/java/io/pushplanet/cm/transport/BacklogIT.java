package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/// A listener's accept queue that really overflows. Only Linux counts that.
@EnabledOnOs(OS.LINUX)
class BacklogIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int ONE_IN_LINE = 1;

  @Test
  void a_line_that_overflows_is_told_when_it_begins_and_when_it_is_over() throws Exception {
    var settings =
        new TransportSettings(
            1,
            Sockets.AUTO,
            1 << 20,
            1 << 20,
            Duration.ofSeconds(30),
            Duration.ZERO,
            ONE_IN_LINE,
            1,
            1000);
    var crowd = new ArrayList<SocketChannel>();
    try (var log = new LogLines(Pressure.class);
        // Accepts one connection a second.
        var server = new EchoServer(new GateSettings(1, 0, 1, 0, 0, ""), null, settings)) {
      for (int client = 0; client < 30; client++) {
        var channel = SocketChannel.open();
        crowd.add(channel);
        channel.configureBlocking(false);
        channel.connect(new InetSocketAddress("127.0.0.1", server.port()));
      }

      Eventually.within(
          PATIENCE, () -> assertThat(server.gauge("cm.pressure", "kind", "backlog")).isEqualTo(1));

      for (var channel : crowd) {
        channel.close();
      }
      Eventually.within(
          PATIENCE, () -> assertThat(server.gauge("cm.pressure", "kind", "backlog")).isZero());
      assertThat(log.said())
          .filteredOn(line -> line.contains("kind=backlog"))
          .first()
          .asString()
          .startsWith("event=pressure_began kind=backlog meaning=\"the kernel's line");
      assertThat(log.said()).anyMatch(line -> line.startsWith("event=pressure_over kind=backlog"));
    } finally {
      for (var channel : crowd) {
        channel.close();
      }
    }
  }
}
