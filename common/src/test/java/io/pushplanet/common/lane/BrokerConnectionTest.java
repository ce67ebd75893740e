package io.pushplanet.common.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class BrokerConnectionTest {
  private final Socket socket = new Socket();
  private final List<String> calls = new ArrayList<>();
  private final ConnectionFactory factory =
      new ConnectionFactory() {
        @Override
        public Connection newConnection(String name) throws IOException {
          getSocketConfigurator().configure(socket);
          return driver();
        }
      };

  @Test
  void a_connection_that_is_cut_off_loses_its_socket() throws Exception {
    BrokerConnection connection = BrokerConnection.open(factory, "test");
    assertThat(socket.isClosed()).isFalse();

    connection.cutOff();

    assertThat(socket.isClosed()).isTrue();
    assertThat(calls).isEmpty();
  }

  @Test
  void the_socket_is_set_up_as_the_factory_says() throws Exception {
    factory.setSocketConfigurator(each -> each.setKeepAlive(true));

    BrokerConnection connection = BrokerConnection.open(factory, "test");

    assertThat(connection.socket()).isSameAs(socket);
    assertThat(socket.getKeepAlive()).isTrue();
  }

  /// An abort without a time waits for the broker's answer for ever.
  @Test
  void a_link_without_a_channel_is_closed_in_bounded_time() {
    var metrics = new LaneMetrics("test", new SimpleMeterRegistry());
    var items = new LaneItems("test", LanePublisher.Settings.DEFAULT, metrics);

    assertThatThrownBy(() -> LaneLink.open(factory, "test", items, metrics, (_, _) -> {}))
        .hasMessage("no channel");

    assertThat(calls).containsExactly("createChannel[]", "abort[1000]");
  }

  private Connection driver() {
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (_, method, arguments) -> {
              calls.add(method.getName() + (arguments == null ? "[]" : Arrays.toString(arguments)));
              if (method.getName().equals("createChannel")) {
                throw new IOException("no channel");
              }
              return null;
            });
  }
}
