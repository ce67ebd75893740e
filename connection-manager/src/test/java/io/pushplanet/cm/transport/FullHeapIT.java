package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.Pressure.Kind;
import io.pushplanet.common.testing.Eventually;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A real server whose heap is really full: a process of its own with a small heap.
class FullHeapIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void with_a_full_heap_accepting_pauses_with_one_line_and_resumes_when_there_is_room()
      throws Exception {
    var clients = new ArrayList<Socket>();
    try (var server =
        new EchoProcess(
            ":", List.of("-Xms256m", "-Xmx256m", "-Xmn16m", "-XX:+UseSerialGC"), FullHeap.class)) {
      // The heap is checked once a second, so the first connection may still be accepted.
      Eventually.within(
          PATIENCE,
          () -> {
            clients.add(server.connect());
            assertThat(server.saysThatBegan(Kind.HEAP)).isTrue();
          });
      clients.add(server.connect());

      server.say();

      assertThat(EchoProcess.answers(clients.getLast()))
          .as("who waited in the kernel's line")
          .isTrue();
      Eventually.within(PATIENCE, () -> assertThat(server.saysThatIsOver(Kind.HEAP)).isTrue());
      assertThat(server.saysHowOften("event=pressure_began", Kind.HEAP)).isOne();
    } finally {
      for (var client : clients) {
        client.close();
      }
    }
  }
}
