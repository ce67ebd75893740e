package io.pushplanet.gateway.alert;

import io.pushplanet.simulators.tls.Authority;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/// Does what GreenMail does not: STARTTLS, TLS with an authority's certificate, a refused address,
/// no answer to QUIT, and silence. It keeps the lines that it received.
final class MailServer implements AutoCloseable {
  static final String REFUSED = "nobody@example.com";

  enum Manner {
    PLAIN,
    STARTTLS,
    TLS,
    MUTE_AT_QUIT,
    SILENT
  }

  final Queue<String> plain = new ConcurrentLinkedQueue<>();
  final Queue<String> sealed = new ConcurrentLinkedQueue<>();
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private final ServerSocket listener;
  private final SSLContext tls;
  private final Manner manner;

  MailServer(Manner manner, Authority authority) throws Exception {
    this.manner = manner;
    this.tls = context(authority.server());
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  private static SSLContext context(Authority.Identity identity)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry(
        "mail", identity.key(), new char[0], new Certificate[] {identity.certificate()});
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context;
  }

  int port() {
    return listener.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = listener.accept();
        sockets.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException _) {
      // Closed.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      switch (manner) {
        case SILENT -> socket.getInputStream().read();
        case TLS -> {
          Socket inside = inside(socket);
          say(inside, "220 ready");
          talk(inside, sealed);
        }
        case PLAIN, STARTTLS, MUTE_AT_QUIT -> {
          say(socket, "220 ready");
          if (talk(socket, plain)) {
            talk(inside(socket), sealed);
          }
        }
      }
    } catch (IOException _) {
      // The other side has gone.
    }
  }

  private Socket inside(Socket socket) throws IOException {
    SSLSocket inside =
        (SSLSocket) tls.getSocketFactory().createSocket(socket, null, socket.getPort(), true);
    inside.setUseClientMode(false);
    inside.startHandshake();
    return inside;
  }

  /// @return whether the other side wants TLS now
  private boolean talk(Socket socket, Queue<String> lines) throws IOException {
    BufferedReader in =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    boolean inMail = false;
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      lines.add(line);
      if (inMail) {
        inMail = !line.equals(".");
        if (!inMail) {
          say(socket, "250 taken");
        }
      } else if (line.startsWith("EHLO")) {
        say(socket, manner == Manner.STARTTLS ? "250-mail.test\r\n250 STARTTLS" : "250 mail.test");
      } else if (line.equals("STARTTLS")) {
        say(socket, "220 go on");
        return true;
      } else if (line.equals("DATA")) {
        inMail = true;
        say(socket, "354 go on");
      } else if (line.equals("QUIT")) {
        if (manner == Manner.MUTE_AT_QUIT) {
          // Until the other side closes the connection.
          continue;
        }
        say(socket, "221 bye");
        return false;
      } else {
        say(socket, line.contains(REFUSED) ? "550 no such user" : "250 good");
      }
    }
    return false;
  }

  private static void say(Socket socket, String line) throws IOException {
    socket.getOutputStream().write((line + "\r\n").getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
  }

  List<String> recipients() {
    return sealed.stream().filter(line -> line.startsWith("RCPT")).toList();
  }

  @Override
  public void close() {
    try {
      listener.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
