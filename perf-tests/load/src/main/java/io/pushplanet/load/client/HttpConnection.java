package io.pushplanet.load.client;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One keep-alive HTTP/1.1 connection (RFC 9112): one request at a time, blocking. It connects when
/// needed, and never repeats a request by itself. Not thread-safe.
public final class HttpConnection implements AutoCloseable {
  private static final int LONGEST_LINE_BYTES = 16 * 1024;
  private static final Duration ASKED_WITHIN = Duration.ofSeconds(20);

  private final String host;
  private final int port;
  private final Duration answerWithin;
  private @Nullable Socket socket;
  private @Nullable InputStream in;
  private boolean lastResponse;

  public HttpConnection(URI server, Duration answerWithin) {
    this.host = server.getHost();
    this.port = server.getPort() < 0 ? 80 : server.getPort();
    this.answerWithin = answerWithin;
  }

  /// Head and body of a request in one array.
  public static byte[] request(String method, URI server, String path, String apiKey, byte[] body) {
    String head =
        method
            + " "
            + path
            + " HTTP/1.1\r\nHost: "
            + server.getAuthority()
            + (apiKey.isEmpty() ? "" : "\r\nAuthorization: Bearer " + apiKey)
            + (body.length == 0 ? "" : "\r\nContent-Type: application/json")
            + "\r\nContent-Length: "
            + body.length
            + "\r\n\r\n";
    byte[] start = head.getBytes(StandardCharsets.US_ASCII);
    byte[] whole = new byte[start.length + body.length];
    System.arraycopy(start, 0, whole, 0, start.length);
    System.arraycopy(body, 0, whole, start.length, body.length);
    return whole;
  }

  /// One request on a connection of its own.
  ///
  /// @throws IllegalStateException for an answer outside 2xx
  public static HttpAnswer ask(URI server, String method, String path, String apiKey, String body) {
    try (HttpConnection connection = new HttpConnection(server, ASKED_WITHIN)) {
      HttpAnswer answer =
          connection.exchange(
              request(method, server, path, apiKey, body.getBytes(StandardCharsets.UTF_8)));
      if (answer.status() / 100 != 2) {
        throw new IllegalStateException(
            method + " " + path + " was answered " + answer.status() + ": " + answer.text());
      }
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot ask " + server, e);
    }
  }

  /// @throws IOException without a complete answer; the server may or may not have acted on the
  ///     request
  public HttpAnswer exchange(byte[] request) throws IOException {
    try {
      InputStream from = open();
      Socket to = socket;
      if (to == null) {
        throw new IOException("not connected");
      }
      to.getOutputStream().write(request);
      HttpAnswer answer = answer(from);
      if (lastResponse) {
        close();
      }
      return answer;
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  @Override
  public void close() {
    if (socket != null) {
      try {
        socket.close();
      } catch (IOException e) {
        // The socket is gone in any case.
      }
    }
    socket = null;
    in = null;
  }

  private InputStream open() throws IOException {
    if (in != null) {
      return in;
    }
    Socket opened = new Socket();
    socket = opened;
    opened.setTcpNoDelay(true);
    opened.setSoTimeout((int) answerWithin.toMillis());
    opened.connect(new InetSocketAddress(host, port), (int) answerWithin.toMillis());
    InputStream stream = new BufferedInputStream(opened.getInputStream(), 4096);
    in = stream;
    return stream;
  }

  private HttpAnswer answer(InputStream from) throws IOException {
    String statusLine = line(from);
    if (!statusLine.startsWith("HTTP/1.1 ") || statusLine.length() < 12) {
      throw new IOException("no HTTP/1.1 answer: " + statusLine);
    }
    int status = Integer.parseInt(statusLine.substring(9, 12));
    int length = 0;
    boolean chunked = false;
    lastResponse = false;
    for (String header = line(from); !header.isEmpty(); header = line(from)) {
      int colon = header.indexOf(':');
      String name = header.substring(0, Math.max(colon, 0)).toLowerCase(Locale.ROOT);
      String value = header.substring(colon + 1).trim();
      switch (name) {
        case "content-length" -> length = Integer.parseInt(value);
        case "transfer-encoding" -> chunked = value.equalsIgnoreCase("chunked");
        case "connection" -> lastResponse = value.equalsIgnoreCase("close");
        default -> {}
      }
    }
    return new HttpAnswer(status, chunked ? chunks(from) : exactly(from, length));
  }

  private static byte[] chunks(InputStream from) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    while (true) {
      String size = line(from);
      int semicolon = size.indexOf(';');
      int length =
          Integer.parseInt((semicolon < 0 ? size : size.substring(0, semicolon)).trim(), 16);
      if (length == 0) {
        while (!line(from).isEmpty()) {}
        return body.toByteArray();
      }
      body.writeBytes(exactly(from, length));
      line(from);
    }
  }

  private static byte[] exactly(InputStream from, int length) throws IOException {
    byte[] bytes = from.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("the answer ended early");
    }
    return bytes;
  }

  private static String line(InputStream from) throws IOException {
    StringBuilder line = new StringBuilder(64);
    for (int next = from.read(); next != '\n'; next = from.read()) {
      if (next < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (line.length() > LONGEST_LINE_BYTES) {
        throw new IOException("a header line of more than " + LONGEST_LINE_BYTES + " bytes");
      }
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }
}
