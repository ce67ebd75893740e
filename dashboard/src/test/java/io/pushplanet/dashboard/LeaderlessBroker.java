package io.pushplanet.dashboard;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;

/// A broker whose queues have lost their leaders: a proxy in front of the real broker that
/// withholds its answers about queues. Heartbeats and everything else pass.
final class LeaderlessBroker implements AutoCloseable {
  private static final int METHOD = 1;

  /// https://www.rabbitmq.com/amqp-0-9-1-reference#class.queue
  private static final int CLASS_QUEUE = 50;

  private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final URI real;

  LeaderlessBroker(URI real) throws IOException {
    this.real = real;
    Thread.ofVirtual().start(this::accept);
  }

  String uri() {
    return real.toString().replace(":" + real.getPort(), ":" + socket.getLocalPort());
  }

  private void accept() {
    try {
      while (true) {
        Socket client = socket.accept();
        Socket broker = new Socket(real.getHost(), real.getPort());
        Thread.ofVirtual()
            .start(() -> {
              try (client;
                  broker) {
                client.getInputStream().transferTo(broker.getOutputStream());
              } catch (IOException e) {
                // One of them has gone.
              }
            });
        Thread.ofVirtual()
            .start(() -> {
              try (client;
                  broker) {
                frames(
                    new DataInputStream(broker.getInputStream()),
                    new DataOutputStream(client.getOutputStream()));
              } catch (IOException e) {
                // One of them has gone.
              }
            });
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  /// A frame has a type, a channel, a size, that many bytes and an end mark.
  private static void frames(DataInputStream from, DataOutputStream to) throws IOException {
    while (true) {
      int type = from.readUnsignedByte();
      int channel = from.readUnsignedShort();
      byte[] payload = new byte[from.readInt()];
      from.readFully(payload);
      int end = from.readUnsignedByte();
      if (type == METHOD && payload[1] == CLASS_QUEUE) {
        continue;
      }
      to.writeByte(type);
      to.writeShort(channel);
      to.writeInt(payload.length);
      to.write(payload);
      to.writeByte(end);
      to.flush();
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
