package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.quickstart.command.TerseServer.Sent;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Checks the device's packets one by one.
class DemoDeviceTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final UUID MESSAGE = UUID.fromString("01a206f0-5ea2-7dcf-9e26-27de832eecf0");

  @Test
  void an_awaited_message_is_acknowledged_before_the_disconnect() throws Exception {
    try (TerseServer server = new TerseServer(MESSAGE)) {
      try (DemoDevice device = DemoDevice.connect(server.registration())) {
        assertThat(next(server)).isEqualTo(Sent.CONNECT);
        assertThat(next(server)).isEqualTo(Sent.SUBSCRIBE);
        // The client itself would acknowledge at some time, perhaps after its disconnect.
        assertThat(server.sent().poll(500, TimeUnit.MILLISECONDS)).isNull();

        assertThat(device.awaitMessage(MESSAGE, SOON)).isTrue();
      }
      assertThat(next(server)).isEqualTo(Sent.PUBACK);
      assertThat(next(server)).isEqualTo(Sent.DISCONNECT);
    }
  }

  private static @Nullable Sent next(TerseServer server) throws InterruptedException {
    return server.sent().poll(SOON.toSeconds(), TimeUnit.SECONDS);
  }
}
