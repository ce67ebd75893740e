package io.pushplanet.gateway.connection;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.hc.core5.concurrent.FutureCallback;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpConnection;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.protocol.HttpProcessor;
import org.apache.hc.core5.http.protocol.HttpProcessorBuilder;
import org.apache.hc.core5.http.protocol.RequestUserAgent;
import org.apache.hc.core5.http2.HttpVersionPolicy;
import org.apache.hc.core5.http2.config.H2Config;
import org.apache.hc.core5.http2.frame.FrameType;
import org.apache.hc.core5.http2.frame.RawFrame;
import org.apache.hc.core5.http2.impl.nio.H2StreamListener;
import org.apache.hc.core5.http2.impl.nio.bootstrap.H2MultiplexingRequester;
import org.apache.hc.core5.http2.impl.nio.bootstrap.H2MultiplexingRequesterBootstrap;
import org.apache.hc.core5.http2.protocol.H2RequestConformance;
import org.apache.hc.core5.http2.protocol.H2RequestContent;
import org.apache.hc.core5.http2.protocol.H2RequestTargetHost;
import org.apache.hc.core5.http2.ssl.H2ClientTlsStrategy;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.reactor.IOReactorConfig;
import org.apache.hc.core5.reactor.IOSession;
import org.apache.hc.core5.reactor.ssl.TransportSecurityLayer;
import org.apache.hc.core5.util.Identifiable;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/// Opens HTTP/2 connections on HttpComponents' event loops, bypassing its own pool: that one keeps draining connections and
/// never opens a second one to a host. Thread-safe.
final class Http2Connector implements AutoCloseable {
  private static final int EVENT_LOOPS = 2;

  private final Map<String, Http2Connection> byId = new ConcurrentHashMap<>();
  private final H2MultiplexingRequester requester;

  Http2Connector() {
    requester =
        H2MultiplexingRequesterBootstrap.bootstrap()
            .setIOReactorConfig(
                IOReactorConfig.custom()
                    .setIoThreadCount(EVENT_LOOPS)
                    .setTcpNoDelay(true)
                    .setSoKeepAlive(true)
                    .build())
            .setHttpProcessor(withoutExpectContinue())
            .setH2Config(H2Config.custom().setPushEnabled(false).build())
            .setStrictALPNHandshake(true)
            .setStreamListener(new GoAwayWatch())
            .setIOSessionListener(new Forget(byId))
            .create();
    requester.start();
  }

  /// HttpComponents' usual processors hold each body back until the peer says "100 Continue": a round trip more, and APNs
  /// does not say it.
  private static HttpProcessor withoutExpectContinue() {
    return HttpProcessorBuilder.create()
        .addAll(
            H2RequestConformance.INSTANCE,
            H2RequestTargetHost.INSTANCE,
            H2RequestContent.INSTANCE,
            new RequestUserAgent("push-planet"))
        .build();
  }

  /// Connects, with TLS unless the endpoint is plain `http`.
  ///
  /// @throws IOException when there is no connection within `deadline`
  Http2Connection connect(ConnectionTarget target, Duration deadline)
      throws IOException, InterruptedException {
    Timeout timeout = Timeout.ofMilliseconds(deadline.toMillis());
    String name = target.endpoint().getHost();
    HttpHost host = new HttpHost(target.isTls() ? "https" : "http", name, target.port());
    // A new InetSocketAddress resolves anew: Apple moves its addresses.
    InetSocketAddress address = new InetSocketAddress(name, target.port());
    if (address.isUnresolved()) {
      throw new IOException("unknown host " + name);
    }
    CompletableFuture<IOSession> connected = new CompletableFuture<>();
    var unused =
        requester.connect(
            host,
            address,
            null,
            timeout,
            null,
            new Then<>(connected, session -> secured(session, target, host, timeout, connected)));
    try {
      IOSession session = connected.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
      session.setSocketTimeout(Timeout.DISABLED);
      Http2Connection connection = new Http2Connection(session, host);
      byId.put(session.getId(), connection);
      if (!session.isOpen()) {
        byId.remove(session.getId());
        throw new IOException("closed by the peer");
      }
      return connection;
    } catch (TimeoutException e) {
      connected.completeExceptionally(e);
      throw new IOException("no connection within " + deadline, e);
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e.getCause());
    }
  }

  /// On the event loop, before the first byte is written.
  private static void secured(
      IOSession session,
      ConnectionTarget target,
      HttpHost host,
      Timeout timeout,
      CompletableFuture<IOSession> connected) {
    if (!target.isTls()) {
      succeed(connected, session);
      return;
    }
    new H2ClientTlsStrategy(target.tls())
        .upgrade(
            (TransportSecurityLayer) session,
            host,
            HttpVersionPolicy.FORCE_HTTP_2,
            timeout,
            new Then<>(connected, _ -> succeed(connected, session)));
  }

  /// Nobody waits any more for a connection that comes late.
  private static void succeed(CompletableFuture<IOSession> connected, IOSession session) {
    if (!connected.complete(session)) {
      session.close(CloseMode.IMMEDIATE);
    }
  }

  int count() {
    return byId.size();
  }

  @Override
  public void close() {
    byId.values().forEach(Http2Connection::close);
    requester.close(CloseMode.IMMEDIATE);
  }

  private record Then<T>(CompletableFuture<IOSession> connected, Consumer<T> next)
      implements FutureCallback<T> {
    @Override
    public void completed(T result) {
      next.accept(result);
    }

    @Override
    public void failed(Exception cause) {
      connected.completeExceptionally(cause);
    }

    @Override
    public void cancelled() {
      connected.completeExceptionally(new IOException("cancelled"));
    }
  }

  /// Learns the stream of each request and the last stream of a GOAWAY; HttpComponents tells its callers neither, and leaves
  /// the requests above that stream without an end.
  private final class GoAwayWatch implements H2StreamListener {
    @Override
    public void onHeaderInput(HttpConnection c, int stream, List<? extends Header> headers) {}

    @Override
    public void onHeaderOutput(HttpConnection c, int stream, List<? extends Header> headers) {
      Http2Connection connection = of(c);
      if (connection != null) {
        connection.headersWritten(stream);
      }
    }

    @Override
    public void onFrameInput(HttpConnection c, int stream, RawFrame frame) {
      ByteBuffer payload = frame.getPayload();
      if (FrameType.GOAWAY.getValue() != frame.getType() || payload == null) {
        return;
      }
      Http2Connection connection = of(c);
      if (connection != null && payload.remaining() >= Integer.BYTES) {
        connection.peerGoesAway(payload.getInt(payload.position()) & Integer.MAX_VALUE);
      }
    }

    @Override
    public void onFrameOutput(HttpConnection c, int stream, RawFrame frame) {}

    @Override
    public void onInputFlowControl(HttpConnection c, int stream, int delta, int size) {}

    @Override
    public void onOutputFlowControl(HttpConnection c, int stream, int delta, int size) {}

    private @Nullable Http2Connection of(HttpConnection connection) {
      return connection instanceof Identifiable named ? byId.get(named.getId()) : null;
    }
  }
}
