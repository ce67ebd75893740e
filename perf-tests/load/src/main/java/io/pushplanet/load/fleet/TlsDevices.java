package io.pushplanet.load.fleet;

import io.pushplanet.load.mqtt.ClientPackets;
import io.pushplanet.load.mqtt.DeviceTopics;
import io.pushplanet.load.mqtt.ServerPackets;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/// Devices that log in over TLS 1.3, subscribe and then stay silent. They use blocking sockets,
/// which suffices to see their cost for a server. Confined to one thread.
final class TlsDevices implements AutoCloseable {
  private static final int AT_ONCE = 4;
  private static final int ANSWER_WITHIN_MILLIS = 30_000;
  private static final int ACCEPTED = 0;

  private final InetSocketAddress server;
  private final SSLSocketFactory sockets;
  private final List<SSLSocket> connected = Collections.synchronizedList(new ArrayList<>());

  /// @param certificate PEM, the only trusted one
  TlsDevices(InetSocketAddress server, Path certificate) {
    this.server = server;
    this.sockets = trusting(certificate).getSocketFactory();
  }

  private static SSLContext trusting(Path certificate) {
    try (InputStream pem = Files.newInputStream(certificate)) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      trusted.setCertificateEntry(
          "server", CertificateFactory.getInstance("X.509").generateCertificate(pem));
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLSv1.3");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("cannot trust " + certificate, e);
    }
  }

  /// Connects more devices; returns once all are subscribed.
  void connect(List<Device> more, FleetSettings settings) {
    try (ExecutorService threads =
        Executors.newFixedThreadPool(AT_ONCE, Thread.ofPlatform().daemon().factory())) {
      List<Future<SSLSocket>> coming =
          more.stream().map(device -> threads.submit(() -> connect(device, settings))).toList();
      for (Future<SSLSocket> each : coming) {
        connected.add(each.get());
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("a device did not get in: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  int size() {
    return connected.size();
  }

  private SSLSocket connect(Device device, FleetSettings settings) throws IOException {
    SSLSocket socket = (SSLSocket) sockets.createSocket();
    try {
      socket.setSoTimeout(ANSWER_WITHIN_MILLIS);
      socket.connect(server, ANSWER_WITHIN_MILLIS);
      ask(socket, device.connect(settings), ServerPackets.CONNACK);
      ask(
          socket,
          ClientPackets.subscribe(device.version(), 1, DeviceTopics.MESSAGES, settings.qos()),
          ServerPackets.SUBACK);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  private static void ask(SSLSocket socket, byte[] packet, int type) throws IOException {
    socket.getOutputStream().write(packet);
    DataInputStream in = new DataInputStream(socket.getInputStream());
    int header = in.readUnsignedByte();
    byte[] body = new byte[in.readUnsignedByte()];
    in.readFully(body);
    int code = body[type == ServerPackets.CONNACK ? 1 : 2] & 0xFF;
    if (header >>> 4 != type || (type == ServerPackets.CONNACK && code != ACCEPTED) || code > 2) {
      throw new IOException("the server answers with type " + (header >>> 4) + ", code " + code);
    }
  }

  @Override
  public void close() {
    for (SSLSocket socket : connected) {
      try {
        socket.close();
      } catch (IOException e) {
        // It is gone either way.
      }
    }
    connected.clear();
  }
}
