package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.transport.Pressure.Kind;
import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.common.testing.Eventually;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A real server whose devices take all file descriptors that they may: a process of its own with
/// few of them.
class DescriptorsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int DESCRIPTORS = 1_000;

  @ParameterizedTest
  @EnumSource(
      value = Sockets.class,
      names = {"AUTO", "NIO"})
  void without_descriptors_accepting_pauses_with_one_line_and_resumes_when_some_are_back(
      Sockets sockets) throws Exception {
    var clients = new ArrayList<Socket>();
    try (var server =
        new EchoProcess(
            "ulimit -n " + DESCRIPTORS, List.of("-Xmx64m"), FewDescriptors.class, sockets.name())) {
      for (int client = 0; client < DESCRIPTORS; client++) {
        clients.add(server.connect());
      }
      Eventually.within(
          PATIENCE, () -> assertThat(server.saysThatBegan(Kind.DESCRIPTORS)).isTrue());
      assertThat(EchoProcess.answers(clients.getFirst())).as("who is in stays in").isTrue();
      server.say();
      Eventually.within(
          PATIENCE, () -> assertThat(server.lines).contains(FewDescriptors.OPENED_SOME));

      for (var client : clients.subList(0, DESCRIPTORS / 2)) {
        client.close();
      }

      assertThat(EchoProcess.answers(clients.getLast()))
          .as("who waited in the kernel's line")
          .isTrue();
      Eventually.within(
          PATIENCE, () -> assertThat(server.saysThatIsOver(Kind.DESCRIPTORS)).isTrue());
      assertThat(server.saysHowOften("event=pressure_began", Kind.DESCRIPTORS)).isOne();
    } finally {
      for (var client : clients) {
        client.close();
      }
    }
  }
}
