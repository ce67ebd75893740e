package io.pushplanet.load.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SenderTest {
  private static final String ID = "0190b8a0-0000-7000-8000-000000000001";
  private static final DeviceId DEVICE = new DeviceId("d1");

  private final AnsweringServer server = new AnsweringServer();
  @TempDir private Path directory;
  private AcceptedJournal journal;
  private Sender sender;

  @BeforeEach
  void open() {
    journal = new AcceptedJournal(directory.resolve("journal"));
    sender =
        new Sender(
            server.url(), new AppId("shop"), new Secret("key"), journal, Duration.ofSeconds(60));
  }

  @AfterEach
  void close() throws IOException {
    sender.close();
    journal.close();
    server.close();
  }

  @Test
  void an_accepted_message_is_in_the_journal() {
    String body = "{\"id\":\"" + ID + "\"}";
    server.answers("HTTP/1.1 202 \r\nContent-Length: " + body.length() + "\r\n\r\n" + body);

    SendOutcome outcome = sender.send(DEVICE, "r1", "{}");

    assertThat(outcome).isEqualTo(new SendOutcome.Accepted(new MessageId(ID)));
    assertThat(AcceptedJournal.read(journal.file()))
        .isEqualTo(
            new AcceptedJournal.Content(
                List.of(new AcceptedMessage(new MessageId(ID), "r1", List.of(DEVICE))), 0));
  }

  @Test
  void a_chunked_answer_is_read_to_its_end_and_the_connection_kept() {
    String half = "{\"id\":\"" + ID;
    server.answers(
        "HTTP/1.1 202 \r\nTransfer-Encoding: chunked\r\n\r\n"
            + Integer.toHexString(half.length())
            + "\r\n"
            + half
            + "\r\n2\r\n\"}\r\n0\r\n\r\n");
    server.answers("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}");

    SendOutcome first = sender.send(DEVICE, "r1", "{}");
    SendOutcome second = sender.send(DEVICE, "r2", "{}");

    assertThat(first).isEqualTo(new SendOutcome.Accepted(new MessageId(ID)));
    assertThat(second).isEqualTo(new SendOutcome.Refused(429, "{}"));
    assertThat(server.connections.get()).isOne();
    assertThat(AcceptedJournal.read(journal.file()).unsure()).isZero();
  }

  @Test
  void a_503_counts_as_unsure() {
    server.answers("HTTP/1.1 503 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n");

    SendOutcome outcome = sender.send(DEVICE, "r1", "{}");

    assertThat(outcome).isEqualTo(new SendOutcome.Refused(503, ""));
    assertThat(AcceptedJournal.read(journal.file()))
        .isEqualTo(new AcceptedJournal.Content(List.of(), 1));
  }

  @Test
  void a_broken_connection_is_reported_and_the_request_not_repeated() {
    server.answers("");

    SendOutcome outcome = sender.send(DEVICE, "r1", "{}");

    assertThat(outcome).isInstanceOf(SendOutcome.Unanswered.class);
    assertThat(server.requests.get()).isOne();
    assertThat(AcceptedJournal.read(journal.file()).accepted()).isEmpty();
    assertThat(AcceptedJournal.read(journal.file()).unsure()).isOne();
  }

  /// Gives its answers in order, for any request; an empty answer closes the connection.
  private static final class AnsweringServer {
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger requests = new AtomicInteger();
    private final Queue<String> answers = new ConcurrentLinkedQueue<>();
    private final ServerSocket listener;

    AnsweringServer() {
      try {
        listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Thread.ofVirtual().start(this::serve);
    }

    URI url() {
      return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    void answers(String answer) {
      answers.add(answer);
    }

    void close() throws IOException {
      listener.close();
    }

    private void serve() {
      while (!listener.isClosed()) {
        try (Socket client = listener.accept()) {
          connections.incrementAndGet();
          while (readRequest(client.getInputStream())) {
            requests.incrementAndGet();
            String answer = answers.remove();
            if (answer.isEmpty()) {
              break;
            }
            client.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
          }
        } catch (IOException e) {
          // The client or the test has ended.
        }
      }
    }

    private static boolean readRequest(InputStream in) throws IOException {
      StringBuilder head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int next = in.read();
        if (next < 0) {
          return false;
        }
        head.append((char) next);
      }
      int at = head.indexOf("Content-Length: ") + 16;
      int length = Integer.parseInt(head.substring(at, head.indexOf("\r\n", at)));
      return in.readNBytes(length).length == length;
    }
  }
}
