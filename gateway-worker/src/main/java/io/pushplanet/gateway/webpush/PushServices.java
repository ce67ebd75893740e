package io.pushplanet.gateway.webpush;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.connection.Reply.NotSent;
import java.io.InterruptedIOException;
import java.io.Serial;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToIntFunction;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClientBuilder;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManager;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.client5.http.protocol.HttpClientContext;
import org.apache.hc.client5.http.ssl.ClientTlsStrategyBuilder;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.EntityDetails;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.HttpRequest;
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
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/// The connections to push services: HTTP/2 where it is offered, one request at a time on each, so many to one host and so
/// many together. It looks up no names, follows no redirects, keeps no cookies and repeats nothing. Thread-safe; calls block
/// until the answer or the deadline.
final class PushServices implements AutoCloseable {
  private static final String WRITE = "pushplanet.write";
  private static final int LONGEST_HEADER_LINE = 8_192;
  private static final int MOST_HEADERS = 100;
  private static final int MOST_HEADER_BYTES = 16_384;

  private final WebPushSettings settings;
  private final Clock clock;
  private final PoolingAsyncClientConnectionManager connections;
  private final CloseableHttpAsyncClient client;

  PushServices(WebPushSettings settings, SSLContext tls, Clock clock, MeterRegistry meters) {
    this(settings, tls, HttpVersionPolicy.NEGOTIATE, clock, meters);
  }

  PushServices(
      WebPushSettings settings,
      SSLContext tls,
      HttpVersionPolicy versions,
      Clock clock,
      MeterRegistry meters) {
    this.settings = settings;
    this.clock = clock;
    Timeout connectTimeout = timeout(settings.connectTimeout());
    this.connections =
        PoolingAsyncClientConnectionManagerBuilder.create()
            .setTlsStrategy(ClientTlsStrategyBuilder.create().setSslContext(tls).buildAsync())
            .setDefaultTlsConfig(
                TlsConfig.custom()
                    .setVersionPolicy(versions)
                    .setHandshakeTimeout(connectTimeout)
                    .build())
            .setDefaultConnectionConfig(
                ConnectionConfig.custom()
                    .setConnectTimeout(connectTimeout)
                    .setValidateAfterInactivity(TimeValue.ofSeconds(5))
                    .build())
            .setDnsResolver(new NoNames())
            .setMaxConnPerRoute(settings.connectionsPerHost())
            .setMaxConnTotal(settings.connections())
            .build();
    this.client =
        HttpAsyncClientBuilder.create()
            .setConnectionManager(connections)
            .setHttp1Config(
                Http1Config.custom()
                    .setMaxLineLength(LONGEST_HEADER_LINE)
                    .setMaxHeaderCount(MOST_HEADERS)
                    .build())
            .setH2Config(
                H2Config.custom()
                    .setPushEnabled(false)
                    .setMaxHeaderListSize(MOST_HEADER_BYTES)
                    .build())
            .setDefaultRequestConfig(
                RequestConfig.custom()
                    .setConnectionRequestTimeout(connectTimeout)
                    .setResponseTimeout(timeout(settings.requestTimeout()))
                    .build())
            .addRequestInterceptorLast(this::beforeWrite)
            .setUserAgent("push-planet")
            .disableRedirectHandling()
            .disableAutomaticRetries()
            .disableCookieManagement()
            .disableAuthCaching()
            .disableContentCompression()
            .evictIdleConnections(TimeValue.ofMilliseconds(settings.idleTimeout().toMillis()))
            .build();
    client.start();
    gauge(meters, "pushplanet.provider.pool.connections", PushServices::open);
    gauge(meters, "pushplanet.provider.pool.streams.active", it -> it.stats().getLeased());
    gauge(meters, "pushplanet.provider.pool.streams.idle", it -> it.stats().getAvailable());
    gauge(meters, "pushplanet.provider.pool.streams.waiting", it -> it.stats().getPending());
  }

  private void gauge(MeterRegistry meters, String name, ToIntFunction<PushServices> value) {
    Gauge.builder(name, this, value::applyAsInt)
        .tag("channel", Channel.WEBPUSH.word())
        .register(meters);
  }

  private PoolStats stats() {
    return connections.getTotalStats();
  }

  private int open() {
    return stats().getLeased() + stats().getAvailable();
  }

  /// @param address where `browser`'s host was found; no other is connected to
  /// @param expiresAt past it the request is not written any more; null = never
  Reply post(
      BrowserSubscription browser,
      InetAddress address,
      List<Field> headers,
      byte[] body,
      @Nullable Instant expiresAt) {
    HttpHost host = new HttpHost("https", address, browser.host(), browser.port());
    BasicHttpRequest request = new BasicHttpRequest(Method.POST, host, browser.target());
    for (Field field : headers) {
      request.addHeader(field.name(), field.value());
    }
    HttpClientContext context = HttpClientContext.create();
    Write write = new Write(expiresAt);
    context.setAttribute(WRITE, write);
    PushServiceAnswer answer = new PushServiceAnswer();
    Future<Reply.Answered> answered =
        client.execute(
            host,
            new BasicRequestProducer(
                request, new BasicAsyncEntityProducer(body, ContentType.APPLICATION_OCTET_STREAM)),
            answer,
            null,
            context,
            null);
    try {
      return awaited(answered, write);
    } catch (ExecutionException e) {
      return answer.seen() == null ? unanswered(e.getCause(), write) : answer.seen();
    } catch (TimeoutException | CancellationException e) {
      answered.cancel(true);
      return answer.seen() == null ? unanswered(e, write) : answer.seen();
    } catch (InterruptedException e) {
      answered.cancel(true);
      Thread.currentThread().interrupt();
      return unanswered(e, write);
    }
  }

  /// HttpComponents keeps no deadline of its own for a stream of HTTP/2. Until the request is written the connect timeout
  /// holds, from then on the request timeout.
  private Reply.Answered awaited(Future<Reply.Answered> answered, Write write)
      throws InterruptedException, ExecutionException, TimeoutException {
    long startNanos = System.nanoTime();
    while (true) {
      long untilNanos =
          write.began
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
        // Perhaps it was written meanwhile: the loop knows.
      }
    }
  }

  private static Reply unanswered(@Nullable Throwable cause, Write write) {
    if (cause instanceof Outlived) {
      return new Reply.Expired();
    }
    if (cause instanceof RequestNotExecutedException) {
      return new NotSent("not_executed");
    }
    if (cause instanceof H2StreamResetException reset
        && reset.getCode() == H2Error.REFUSED_STREAM.getCode()) {
      return new NotSent("refused_stream");
    }
    if (!write.began) {
      return new NotSent("no_connection");
    }
    return new NoAnswer(
        cause instanceof TimeoutException || cause instanceof InterruptedIOException
            ? "timeout"
            : "no_answer");
  }

  /// On the event loop, with a connection in hand.
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

  /// One request on its way out.
  private static final class Write {
    private final @Nullable Instant expiresAt;
    private long beganNanos;
    private volatile boolean began;

    Write(@Nullable Instant expiresAt) {
      this.expiresAt = expiresAt;
    }

    void begin(Instant now) throws Outlived {
      if (expiresAt != null && !now.isBefore(expiresAt)) {
        throw new Outlived();
      }
      beganNanos = System.nanoTime();
      began = true;
    }
  }

  /// Its message expired before it could be written.
  private static final class Outlived extends HttpException {
    @Serial private static final long serialVersionUID = 1;
  }

  /// Whoever asks for a name here would connect to an address that nobody has checked.
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
