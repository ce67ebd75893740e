package io.pushplanet.gateway.connection;

import io.pushplanet.gateway.connection.Reply.Answered;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.client5.http.ssl.ClientTlsStrategyBuilder;
import org.apache.hc.core5.concurrent.FutureCallback;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.EntityDetails;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpResponse;
import org.apache.hc.core5.http.Method;
import org.apache.hc.core5.http.message.BasicHttpRequest;
import org.apache.hc.core5.http.nio.AsyncResponseConsumer;
import org.apache.hc.core5.http.nio.CapacityChannel;
import org.apache.hc.core5.http.nio.entity.BasicAsyncEntityProducer;
import org.apache.hc.core5.http.nio.support.BasicRequestProducer;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.apache.hc.core5.http2.HttpVersionPolicy;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.reactor.IOReactorConfig;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/// One request on a connection of its own, HTTP/2 where it is offered: for rare requests that must
/// not touch the connections that carry pushes. Follows no redirects and repeats nothing.
/// Thread-safe; calls block.
public final class LiveRequest {
  /// An answer with so many bytes may have had more.
  public static final int MAX_ANSWER_BYTES = 64 * 1_024;

  private final SSLContext tls;
  private final @Nullable Duration connectTimeout;
  private final Names names = new Names();

  /// Connecting may take as long as the whole request.
  public LiveRequest(SSLContext tls) {
    this(tls, null);
  }

  /// @param connectTimeout for connecting to each address, and once more for the TLS handshake;
  ///     null = the deadline
  public LiveRequest(SSLContext tls, @Nullable Duration connectTimeout) {
    this.tls = tls;
    this.connectTimeout = connectTimeout;
  }

  /// @param deadline from looking up the name to the end of the answer
  /// @return the answer; of more than 64 KB only the beginning
  /// @throws IOException when no whole answer came in time
  public Answered post(URI to, Map<String, String> headers, byte[] body, Duration deadline)
      throws IOException {
    return send(Method.POST, to, headers, body, deadline);
  }

  /// @param deadline from looking up the name to the end of the answer
  /// @return the answer; of more than 64 KB only the beginning
  /// @throws IOException when no whole answer came in time
  public Answered get(URI to, Map<String, String> headers, Duration deadline) throws IOException {
    return send(Method.GET, to, headers, null, deadline);
  }

  /// @param deadline from looking up the name to the end of the answer
  /// @return the answer; of more than 64 KB only the beginning
  /// @throws IOException when no whole answer came in time
  public Answered delete(URI to, Map<String, String> headers, Duration deadline)
      throws IOException {
    return send(Method.DELETE, to, headers, null, deadline);
  }

  private Answered send(
      Method method, URI to, Map<String, String> headers, byte @Nullable [] body, Duration deadline)
      throws IOException {
    String host = to.getHost();
    if (host == null) {
      throw new IOException("an address without a host");
    }
    long untilNanos = System.nanoTime() + deadline.toNanos();
    CloseableHttpAsyncClient client = client(new Found(addresses(host, deadline)), deadline);
    try {
      client.start();
      BasicHttpRequest request = new BasicHttpRequest(method, to);
      headers.forEach(request::addHeader);
      return awaited(
          client.execute(
              new BasicRequestProducer(
                  request,
                  body == null ? null : new BasicAsyncEntityProducer(body, (ContentType) null)),
              new WholeAnswer(),
              null),
          untilNanos,
          deadline);
    } finally {
      // A graceful close would wait for the peer, and peers do not close in answer to it.
      client.close(CloseMode.IMMEDIATE);
    }
  }

  /// HttpComponents would look the name up without a timeout.
  private InetAddress[] addresses(String host, Duration deadline) throws IOException {
    try {
      return names.addresses(host, deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private static Answered awaited(Future<Answered> answer, long untilNanos, Duration deadline)
      throws IOException {
    try {
      return answer.get(untilNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + deadline.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      answer.cancel(true);
    }
  }

  private CloseableHttpAsyncClient client(Found found, Duration deadline) {
    Duration connecting = connectTimeout == null ? deadline : connectTimeout;
    Timeout limit = Timeout.ofMilliseconds(connecting.toMillis());
    return HttpDefaults.builder()
        .setConnectionManager(
            PoolingAsyncClientConnectionManagerBuilder.create()
                .setTlsStrategy(ClientTlsStrategyBuilder.create().setSslContext(tls).buildAsync())
                .setDefaultTlsConfig(
                    TlsConfig.custom()
                        .setVersionPolicy(HttpVersionPolicy.NEGOTIATE)
                        .setHandshakeTimeout(limit)
                        .build())
                .setDefaultConnectionConfig(
                    ConnectionConfig.custom().setConnectTimeout(limit).build())
                .setDnsResolver(found)
                .build())
        .setIOReactorConfig(IOReactorConfig.custom().setIoThreadCount(1).build())
        .build();
  }

  /// The addresses of the one host.
  private record Found(InetAddress[] addresses) implements DnsResolver {
    @Override
    public InetAddress[] resolve(String host) {
      return addresses;
    }

    @Override
    public String resolveCanonicalHostname(String host) {
      return host;
    }
  }

  /// Confined to the event loop of its connection.
  private static final class WholeAnswer implements AsyncResponseConsumer<Answered> {
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private @Nullable FutureCallback<Answered> callback;
    private final Map<String, String> headers = new HashMap<>();
    private int status;

    @Override
    public void consumeResponse(
        HttpResponse response,
        @Nullable EntityDetails entity,
        HttpContext context,
        FutureCallback<Answered> whole) {
      status = response.getCode();
      for (Header header : response.getHeaders()) {
        headers.putIfAbsent(header.getName().toLowerCase(Locale.ROOT), header.getValue());
      }
      if (entity == null) {
        whole.completed(answered());
      } else {
        callback = whole;
      }
    }

    private Answered answered() {
      return new Answered(status, headers, body.toByteArray());
    }

    @Override
    public void informationResponse(HttpResponse response, HttpContext context) {}

    @Override
    public void updateCapacity(CapacityChannel capacity) throws IOException {
      capacity.update(Integer.MAX_VALUE);
    }

    @Override
    public void consume(ByteBuffer part) throws IOException {
      byte[] bytes = new byte[Math.min(part.remaining(), MAX_ANSWER_BYTES - body.size())];
      part.get(bytes);
      body.write(bytes);
      if (part.hasRemaining()) {
        streamEnd(null);
        throw new IOException("an answer without end");
      }
    }

    @Override
    public void streamEnd(@Nullable List<? extends Header> trailers) {
      if (callback != null) {
        callback.completed(answered());
      }
    }

    @Override
    public void failed(Exception cause) {}

    @Override
    public void releaseResources() {}
  }
}
