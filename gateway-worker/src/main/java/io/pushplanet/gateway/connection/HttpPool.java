package io.pushplanet.gateway.connection;

import com.github.benmanes.caffeine.cache.Ticker;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.connection.Reply.NotSent;
import java.io.InterruptedIOException;
import java.io.Serial;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToIntFunction;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.async.AsyncExecRuntime;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManager;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.client5.http.protocol.HttpClientContext;
import org.apache.hc.client5.http.ssl.ClientTlsStrategyBuilder;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.EntityDetails;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.HttpRequest;
import org.apache.hc.core5.http.HttpRequestInterceptor;
import org.apache.hc.core5.http.Method;
import org.apache.hc.core5.http.RequestNotExecutedException;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.message.BasicHttpRequest;
import org.apache.hc.core5.http.nio.entity.BasicAsyncEntityProducer;
import org.apache.hc.core5.http.nio.support.BasicRequestProducer;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.apache.hc.core5.http2.H2Error;
import org.apache.hc.core5.http2.H2StreamResetException;
import org.apache.hc.core5.http2.HttpVersionPolicy;
import org.apache.hc.core5.http2.config.H2Config;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.pool.PoolStats;
import org.apache.hc.core5.reactor.IOReactorConfig;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/// Connections of a channel that does not need many streams: HTTP/2 where it is offered, one
/// request at a time on each. Limits the connections to one host and in all. Follows no redirects,
/// keeps no cookies and repeats nothing. Thread-safe; calls block until the answer or the deadline.
public final class HttpPool implements AutoCloseable {
  private static final int HTTPS = 443;

  /// A connection may be in use for so much longer than an answer may take.
  private static final Duration BESIDE_THE_ANSWER = Duration.ofSeconds(1);

  private static final String WRITE = "pushplanet.write";
  private static final int LONGEST_HEADER_LINE = 8_192;
  private static final int MAX_HEADERS = 100;
  private static final int MAX_HEADER_BYTES = 16_384;

  private final Bounds settings;
  private final boolean keepsBodies;
  private final Clock clock;
  private final PoolingAsyncClientConnectionManager connections;
  private final CloseableHttpAsyncClient client;
  private final Names names = new Names();
  private final LiveAddresses live = new LiveAddresses(Ticker.systemTicker());

  /// @param perHost connections, and so requests at a time, to one host
  /// @param connections to all hosts together
  /// @param connectTimeout for looking up a name, for a free connection, and for connecting with
  ///     the TLS handshake
  /// @param requestTimeout from the write of a request to the end of its answer
  /// @param idleTimeout a connection unused for so long is closed
  /// @param answerBytes the connection of a longer answer is closed
  public record Bounds(
      int perHost,
      int connections,
      Duration connectTimeout,
      Duration requestTimeout,
      Duration idleTimeout,
      int answerBytes) {}

  /// Where a request goes.
  ///
  /// @param path with the query
  /// @param addresses the only ones to connect to; empty = the host is looked up
  /// @param attempt how often the same was tried before: each try begins with the next address
  public record Target(
      String host, int port, String path, List<InetAddress> addresses, int attempt) {
    public Target {
      addresses = List.copyOf(addresses);
    }

    /// @param path below the endpoint's host
    public static Target at(URI endpoint, String path) {
      return new Target(
          endpoint.getHost(),
          endpoint.getPort() < 0 ? HTTPS : endpoint.getPort(),
          path,
          List.of(),
          0);
    }
  }

  /// @param keepsBodies whether answers have their bodies
  public HttpPool(
      Channel channel,
      Bounds settings,
      boolean keepsBodies,
      SSLContext tls,
      Clock clock,
      MeterRegistry meters) {
    this.settings = settings;
    this.keepsBodies = keepsBodies;
    this.clock = clock;
    this.connections = connections(settings, tls);
    this.client = client(settings, connections, this::beforeWrite);
    client.start();
    gauge(meters, channel, "pushplanet.provider.pool.connections", HttpPool::open);
    gauge(meters, channel, "pushplanet.provider.pool.streams.active", it -> it.stats().getLeased());
    gauge(
        meters, channel, "pushplanet.provider.pool.streams.idle", it -> it.stats().getAvailable());
    gauge(
        meters, channel, "pushplanet.provider.pool.streams.waiting", it -> it.stats().getPending());
  }

  private static PoolingAsyncClientConnectionManager connections(Bounds settings, SSLContext tls) {
    Timeout connectTimeout = timeout(settings.connectTimeout());
    return PoolingAsyncClientConnectionManagerBuilder.create()
        .setTlsStrategy(ClientTlsStrategyBuilder.create().setSslContext(tls).buildAsync())
        .setDefaultTlsConfig(
            TlsConfig.custom()
                .setVersionPolicy(HttpVersionPolicy.NEGOTIATE)
                .setHandshakeTimeout(connectTimeout)
                .build())
        .setDefaultConnectionConfig(
            ConnectionConfig.custom()
                .setConnectTimeout(connectTimeout)
                .setSocketTimeout(timeout(settings.requestTimeout().plus(BESIDE_THE_ANSWER)))
                // Its PING has no timeout: a dead connection would keep its place in the pool.
                .setValidateAfterInactivity(TimeValue.NEG_ONE_MILLISECOND)
                .build())
        .setDnsResolver(new NoNames())
        .setMaxConnPerRoute(settings.perHost())
        .setMaxConnTotal(settings.connections())
        .build();
  }

  private static CloseableHttpAsyncClient client(
      Bounds settings,
      PoolingAsyncClientConnectionManager connections,
      HttpRequestInterceptor beforeWrite) {
    return HttpDefaults.builder()
        .setConnectionManager(connections)
        // The kernel finds within twenty seconds that a firewall has dropped an idle connection.
        .setIOReactorConfig(
            IOReactorConfig.custom()
                .setSoKeepAlive(true)
                .setTcpKeepIdle(10)
                .setTcpKeepInterval(5)
                .setTcpKeepCount(2)
                .build())
        .setHttp1Config(
            Http1Config.custom()
                .setMaxLineLength(LONGEST_HEADER_LINE)
                .setMaxHeaderCount(MAX_HEADERS)
                .build())
        .setH2Config(
            H2Config.custom().setPushEnabled(false).setMaxHeaderListSize(MAX_HEADER_BYTES).build())
        .setDefaultRequestConfig(
            RequestConfig.custom()
                .setConnectionRequestTimeout(timeout(settings.connectTimeout()))
                .setResponseTimeout(timeout(settings.requestTimeout()))
                .build())
        .addExecInterceptorFirst(
            WRITE,
            (request, body, scope, chain, callback) -> {
              if (scope.clientContext.getAttribute(WRITE) instanceof Write write) {
                write.runtime = scope.execRuntime;
              }
              chain.proceed(request, body, scope, callback);
            })
        .addRequestInterceptorLast(beforeWrite)
        .evictIdleConnections(TimeValue.ofMilliseconds(settings.idleTimeout().toMillis()))
        .build();
  }

  private void gauge(
      MeterRegistry meters, Channel channel, String name, ToIntFunction<HttpPool> value) {
    Gauge.builder(name, this, value::applyAsInt).tag("channel", channel.word()).register(meters);
  }

  /// The most connections, and so the most requests at a time.
  public int connections() {
    return settings.connections();
  }

  private PoolStats stats() {
    return connections.getTotalStats();
  }

  private int open() {
    return stats().getLeased() + stats().getAvailable();
  }

  /// @param headers with the content type
  /// @param expiresAt past it the request is not written any more; null = never
  public Reply post(Target target, List<Field> headers, byte[] body, @Nullable Instant expiresAt) {
    try {
      // HttpComponents would look the name up on an event loop, without a timeout.
      List<InetAddress> addresses =
          target.addresses().isEmpty()
              ? List.of(names.addresses(target.host(), settings.connectTimeout()))
              : target.addresses();
      InetAddress address = live.choose(addresses, target.attempt());
      return postTo(address, target, headers, body, expiresAt);
    } catch (UnknownHostException e) {
      return new NotSent(ConnectFailure.word(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new NotSent("interrupted");
    }
  }

  private Reply postTo(
      InetAddress address,
      Target target,
      List<Field> headers,
      byte[] body,
      @Nullable Instant expiresAt) {
    HttpHost host = new HttpHost("https", address, target.host(), target.port());
    BasicHttpRequest request = new BasicHttpRequest(Method.POST, host, target.path());
    for (Field field : headers) {
      request.addHeader(field.name(), field.value());
    }
    HttpClientContext context = HttpClientContext.create();
    Write write = new Write(expiresAt);
    context.setAttribute(WRITE, write);
    AnswerReader answer = new AnswerReader(settings.answerBytes(), keepsBodies);
    Future<Reply.Answered> answered =
        client.execute(
            host,
            new BasicRequestProducer(
                request, new BasicAsyncEntityProducer(body, (ContentType) null)),
            answer,
            null,
            context,
            null);
    try {
      return awaited(answered, write);
    } catch (ExecutionException e) {
      return answer.seen() == null ? unanswered(e.getCause(), write, address) : answer.seen();
    } catch (TimeoutException | CancellationException e) {
      Reply reply = answer.seen() == null ? unanswered(e, write, address) : answer.seen();
      giveUp(answered, write);
      return reply;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      Reply reply = unanswered(e, write, address);
      giveUp(answered, write);
      return reply;
    } finally {
      leave(write);
    }
  }

  /// Cancelling reaches a request that waits for a connection. A request on a connection would keep
  /// it for as long as the peer says anything, even a PING, so the connection is closed.
  private static void giveUp(Future<Reply.Answered> answered, Write write) {
    answered.cancel(true);
    AsyncExecRuntime runtime = write.runtime;
    if (runtime != null && runtime.isEndpointConnected()) {
      runtime.discardEndpoint();
    }
  }

  /// A connection returns to the pool when its exchange is over. That never happens where a server
  /// answers a request before it has all of it, and then resets the stream (RFC 9113, section 8.1
  /// allows it).
  private void leave(Write write) {
    AsyncExecRuntime runtime = write.runtime;
    if (runtime != null && runtime.isEndpointAcquired()) {
      CompletableFuture.delayedExecutor(
              settings.requestTimeout().plus(BESIDE_THE_ANSWER).toMillis(), TimeUnit.MILLISECONDS)
          .execute(() -> {
            if (runtime.isEndpointAcquired()) {
              runtime.discardEndpoint();
            }
          });
    }
  }

  /// HttpComponents has no timeout of its own for a stream of HTTP/2. Until the request is written
  /// the connect timeout holds, from then on the request timeout.
  private Reply.Answered awaited(Future<Reply.Answered> answered, Write write)
      throws InterruptedException, ExecutionException, TimeoutException {
    long startNanos = System.nanoTime();
    while (true) {
      long untilNanos =
          write.began()
              ? write.beganNanos + settings.requestTimeout().toNanos()
              : startNanos + settings.connectTimeout().toNanos();
      long leftNanos = untilNanos - System.nanoTime();
      if (leftNanos <= 0) {
        throw new TimeoutException();
      }
      try {
        return answered.get(
            Math.min(leftNanos, settings.requestTimeout().toNanos()), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        // It may have been written meanwhile: the event loop knows.
      }
    }
  }

  private Reply unanswered(@Nullable Throwable cause, Write write, InetAddress address) {
    if (cause instanceof Outlived) {
      return new Reply.Expired();
    }
    // For a request that has been written, it is not known whether the server's GOAWAY left it
    // unread.
    if (cause instanceof RequestNotExecutedException) {
      return new NotSent("not_executed");
    }
    if (cause instanceof H2StreamResetException reset
        && reset.getCode() == H2Error.REFUSED_STREAM.getCode()) {
      return new NotSent("refused_stream");
    }
    if (write.calledOff()) {
      live.failed(address);
      return new NotSent(ConnectFailure.word(cause));
    }
    return new NoAnswer(
        cause instanceof TimeoutException || cause instanceof InterruptedIOException
            ? "timeout"
            : "no_answer");
  }

  /// Runs on the event loop, when the request has a connection.
  private void beforeWrite(HttpRequest request, @Nullable EntityDetails entity, HttpContext context)
      throws HttpException {
    if (context.getAttribute(WRITE) instanceof Write write) {
      write.begin(clock.instant());
    }
  }

  private static Timeout timeout(Duration duration) {
    return Timeout.ofMilliseconds(duration.toMillis());
  }

  @Override
  public void close() {
    client.initiateShutdown();
    try {
      client.awaitShutdown(TimeValue.ofSeconds(1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    client.close(CloseMode.IMMEDIATE);
  }

  /// A request on its way out. It is either written or called off, never both.
  private static final class Write {
    private enum Stage {
      WAITING,
      BEGAN,
      CALLED_OFF
    }

    private final @Nullable Instant expiresAt;
    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.WAITING);
    private long beganNanos;

    /// The request's connection, once it looks for one.
    private volatile @Nullable AsyncExecRuntime runtime;

    Write(@Nullable Instant expiresAt) {
      this.expiresAt = expiresAt;
    }

    void begin(Instant now) throws HttpException {
      if (expiresAt != null && !now.isBefore(expiresAt)) {
        throw new Outlived();
      }
      beganNanos = System.nanoTime();
      if (!stage.compareAndSet(Stage.WAITING, Stage.BEGAN)) {
        throw new HttpException("the request was called off");
      }
    }

    boolean began() {
      return stage.get() == Stage.BEGAN;
    }

    /// @return whether it will never be written
    boolean calledOff() {
      return stage.compareAndSet(Stage.WAITING, Stage.CALLED_OFF)
          || stage.get() == Stage.CALLED_OFF;
    }
  }

  /// The message expired before it could be written.
  private static final class Outlived extends HttpException {
    @Serial private static final long serialVersionUID = 1;
  }

  /// A look-up here would connect to an address that was not checked.
  private static final class NoNames implements DnsResolver {
    @Override
    public InetAddress[] resolve(String host) throws UnknownHostException {
      throw new UnknownHostException("not looked up here");
    }

    @Override
    public String resolveCanonicalHostname(String host) throws UnknownHostException {
      throw new UnknownHostException("not looked up here");
    }
  }
}
