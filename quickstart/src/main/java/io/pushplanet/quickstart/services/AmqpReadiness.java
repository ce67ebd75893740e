package io.pushplanet.quickstart.services;

import com.rabbitmq.client.ConnectionFactory;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;

/// Asks an AMQP broker for a channel.
final class AmqpReadiness {
  private static final int ANSWER_MILLIS = 5000;

  private AmqpReadiness() {}

  static URI local(int port) {
    return URI.create("amqp://guest:guest@127.0.0.1:" + port + "/%2f");
  }

  static boolean opensChannel(URI uri) throws Exception {
    try (var socket = new Socket()) {
      // The client logs a warning for every refused connection, so a quiet check comes first.
      socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()), ANSWER_MILLIS);
    }
    var factory = new ConnectionFactory();
    factory.setUri(uri);
    factory.setConnectionTimeout(ANSWER_MILLIS);
    factory.setHandshakeTimeout(ANSWER_MILLIS);
    factory.setChannelRpcTimeout(ANSWER_MILLIS);
    factory.setAutomaticRecoveryEnabled(false);
    try (var connection = factory.newConnection("quickstart readiness");
        var channel = connection.createChannel()) {
      return channel.isOpen();
    }
  }
}
