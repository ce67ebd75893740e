package io.pushplanet.gateway.http2;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.handler.codec.http2.Http2Headers;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.gateway.connection.Names;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.http2.ScriptedServer.Peer;
import io.pushplanet.gateway.http2.ScriptedServer.Script;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/// For tests of our HTTP/2: a server that plays a script, our connections to it, and the requests
/// that the server has processed.
abstract class Http2Scene {
  static final Duration PATIENCE = Duration.ofSeconds(30);
  static final Duration NEVER = Duration.ofHours(1);
  static final Duration SOON = Duration.ofSeconds(3);
  static final long NO_ERROR = 0x0;

  final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  final Queue<Integer> processed = new ConcurrentLinkedQueue<>();

  /// Long unless silence is tested: on a busy machine the server's thread may not run for seconds.
  Duration deadAfter = PATIENCE;

  Duration pingAfter = NEVER;

  @Nullable ScriptedServer server;
  private @Nullable ProviderConnections connections;
  private final ConcurrentLinkedQueue<ConnectionTarget> targets = new ConcurrentLinkedQueue<>();

  @AfterEach
  void stop() {
    threads.shutdownNow();
    clear();
  }

  private void clear() {
    if (connections != null) {
      connections.close();
    }
    if (server != null) {
      server.close();
    }
    targets.clear();
    processed.clear();
  }

  /// For tests that tell answers from silence by seconds.
  void undisturbed(Undisturbed.Scene scene) throws Exception {
    Undisturbed.play(() -> {
      clear();
      scene.play();
    });
  }

  void start(int streams, Duration requestTimeout, Script script) {
    start(1, streams, requestTimeout, script);
  }

  void start(int perCredential, int streams, Duration requestTimeout, Script script) {
    start(perCredential, streams, requestTimeout, 1, script);
  }

  void start(
      int perCredential, int streams, Duration requestTimeout, int firstStream, Script script) {
    ConnectionSettings settings =
        new ConnectionSettings(
            perCredential, streams, 100, PATIENCE, requestTimeout, NEVER, pingAfter, deadAfter);
    server = new ScriptedServer(script);
    connections =
        new ProviderConnections(
            Channel.APNS,
            settings,
            new SimpleMeterRegistry(),
            new Http2Connector(settings, Clock.systemUTC(), firstStream, new Names()));
  }

  ProviderConnections connections() {
    if (connections == null) {
      throw new IllegalStateException("not started");
    }
    return connections;
  }

  ConnectionTarget target() throws Exception {
    ConnectionTarget known = targets.peek();
    if (known == null) {
      known =
          new ConnectionTarget(
              "credential",
              URI.create("http://127.0.0.1:" + server.port()),
              javax.net.ssl.SSLContext.getDefault());
      targets.add(known);
    }
    return known;
  }

  Reply send(int id) throws Exception {
    return connections().send(target(), request(Priority.NORMAL, id, 10), _ -> false);
  }

  List<Reply> sendAll(int from, int count) throws Exception {
    return sendAll(from, count, 10);
  }

  List<Reply> sendAll(int from, int count, int bytes) throws Exception {
    return all(submitAll(from, count, bytes));
  }

  List<Future<Reply>> submitAll(int from, int count) throws Exception {
    return submitAll(from, count, 10);
  }

  List<Future<Reply>> submitAll(int from, int count, int bytes) throws Exception {
    ConnectionTarget target = target();
    List<Future<Reply>> sent = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int id = from + i;
      sent.add(
          threads.submit(
              () -> connections().send(target, request(Priority.NORMAL, id, bytes), _ -> false)));
    }
    return sent;
  }

  static List<Reply> all(List<Future<Reply>> sent) throws Exception {
    List<Reply> replies = new ArrayList<>();
    for (Future<Reply> one : sent) {
      replies.add(one.get(120, TimeUnit.SECONDS));
    }
    return replies;
  }

  static ProviderRequest request(Priority priority, int id, int bytes) {
    return new ProviderRequest(priority, "/" + id, List.of(), body(bytes), null);
  }

  static byte[] body(int bytes) {
    byte[] body = new byte[bytes];
    Arrays.fill(body, (byte) 'b');
    return body;
  }

  static int id(Http2Headers headers) {
    return Integer.parseInt(headers.path().toString().substring(1));
  }

  void process(Peer peer, int stream, Http2Headers headers) {
    processed.add(id(headers));
    peer.answer(stream);
  }

  /// Requests that the server has read and not answered. Confined to its event loop, except for
  /// reads.
  final class Held {
    private record One(Peer peer, int stream, Http2Headers headers) {}

    private volatile List<One> all = List.of();

    /// @return how many there are
    int add(Peer peer, int stream, Http2Headers headers) {
      List<One> more = new ArrayList<>(all);
      more.add(new One(peer, stream, headers));
      all = List.copyOf(more);
      return more.size();
    }

    List<Integer> streams() {
      return all.stream().map(One::stream).toList();
    }

    void keep(int first) {
      all = all.subList(0, first);
    }

    void answerAll() {
      List<One> answered = all;
      all = List.of();
      answered.forEach(it -> process(it.peer, it.stream, it.headers));
    }
  }
}
