package io.pushplanet.load.measure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/// The processor time of this machine, at present, to write one small message to each of many
/// sockets, without anything else: the lower bound of every server's message. On loopback the
/// writer's time includes the receiver's work in the kernel.
public final class BareWrites {
  private static final int SOCKETS = 1_000;
  private static final int BYTES = 100;
  private static final int WARM_ROUNDS = 20;
  private static final int ROUNDS = 50;

  private BareWrites() {}

  /// Microseconds of processor time for each.
  public static double micros() {
    List<SocketChannel> writing = new ArrayList<>();
    List<SocketChannel> reading = new ArrayList<>();
    try (var server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), SOCKETS);
      for (int socket = 0; socket < SOCKETS; socket++) {
        reading.add(SocketChannel.open(server.getLocalAddress()));
        SocketChannel accepted = server.accept();
        writing.add(accepted);
        accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
        accepted.configureBlocking(false);
      }
      var message = ByteBuffer.allocateDirect(BYTES);
      var read = ByteBuffer.allocateDirect(BYTES);
      long nanos = 0;
      for (int round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
        long used = writeToAll(writing, message);
        nanos += round < WARM_ROUNDS ? 0 : used;
        readFromAll(reading, read);
      }
      return nanos / 1e3 / ROUNDS / SOCKETS;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write to sockets of this machine", e);
    } finally {
      writing.forEach(BareWrites::close);
      reading.forEach(BareWrites::close);
    }
  }

  private static long writeToAll(List<SocketChannel> channels, ByteBuffer message)
      throws IOException {
    var threads = ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadCpuTime();
    for (var channel : channels) {
      if (channel.write(message.clear()) < BYTES) {
        throw new IOException("a socket took less than a message of " + BYTES + " bytes");
      }
    }
    return threads.getCurrentThreadCpuTime() - before;
  }

  private static void readFromAll(List<SocketChannel> channels, ByteBuffer into)
      throws IOException {
    for (var channel : channels) {
      into.clear();
      while (into.hasRemaining()) {
        if (channel.read(into) < 0) {
          throw new IOException("a socket of this program was closed");
        }
      }
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close a socket", e);
    }
  }
}
