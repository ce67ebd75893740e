package io.pushplanet.gateway.http2;

import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.simulators.tls.Authority;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.hc.core5.concurrent.FutureCallback;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.EntityDetails;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.HttpRequest;
import org.apache.hc.core5.http.HttpResponse;
import org.apache.hc.core5.http.impl.BasicEntityDetails;
import org.apache.hc.core5.http.message.BasicHeader;
import org.apache.hc.core5.http.message.BasicHttpRequest;
import org.apache.hc.core5.http.nio.AsyncClientExchangeHandler;
import org.apache.hc.core5.http.nio.CapacityChannel;
import org.apache.hc.core5.http.nio.DataStreamChannel;
import org.apache.hc.core5.http.nio.RequestChannel;
import org.apache.hc.core5.http.nio.command.RequestExecutionCommand;
import org.apache.hc.core5.http.nio.ssl.TlsStrategy;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.apache.hc.core5.http.protocol.HttpCoreContext;
import org.apache.hc.core5.http.protocol.HttpProcessorBuilder;
import org.apache.hc.core5.http2.impl.nio.bootstrap.H2MultiplexingRequester;
import org.apache.hc.core5.http2.impl.nio.bootstrap.H2MultiplexingRequesterBootstrap;
import org.apache.hc.core5.http2.ssl.H2ClientTlsStrategy;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.reactor.Command;
import org.apache.hc.core5.reactor.IOSession;
import org.apache.hc.core5.reactor.ssl.TransportSecurityLayer;
import org.apache.hc.core5.util.Timeout;

/// HttpComponents Core's own multiplexer (https://hc.apache.org/httpcomponents-core-5.4.x/), as
/// lean as its users can have it: connections opened by hand, because its pool never opens a second
/// one to a host, and no future, entity or consumer for a request. One thread sends, and a
/// semaphore, as pushy's users do.
final class HttpCoreSender implements NotificationSender {
  static final String NAME = "httpcore";

  private static final Timeout CONNECTED_WITHIN = Timeout.ofSeconds(10);

  private final HttpHost host;
  private final H2MultiplexingRequester requester =
      // Its usual processors expect a 100 before each body.
      H2MultiplexingRequesterBootstrap.bootstrap()
          .setHttpProcessor(HttpProcessorBuilder.create().build())
          .create();
  private final List<IOSession> sessions = new ArrayList<>();

  HttpCoreSender(Authority authority, int port, int connections) {
    host = new HttpHost("https", "localhost", port);
    requester.start();
    TlsStrategy tls = new H2ClientTlsStrategy(Trust.with("authority", authority.pem()).context());
    for (int i = 0; i < connections; i++) {
      sessions.add(connect(tls));
    }
  }

  private IOSession connect(TlsStrategy tls) {
    CompletableFuture<IOSession> ready = new CompletableFuture<>();
    var _ =
        requester.requestSession(
            host,
            CONNECTED_WITHIN,
            null,
            // In the reactor's thread, before the connection's preface is written in plain.
            whenDone(
                ready,
                session ->
                    tls.upgrade(
                        (TransportSecurityLayer) session,
                        host,
                        null,
                        CONNECTED_WITHIN,
                        whenDone(ready, _ -> ready.complete(session)))));
    return ready.orTimeout(CONNECTED_WITHIN.toSeconds(), TimeUnit.SECONDS).join();
  }

  private static <T> FutureCallback<T> whenDone(
      CompletableFuture<IOSession> ready, Consumer<T> next) {
    return new FutureCallback<>() {
      @Override
      public void completed(T result) {
        next.accept(result);
      }

      @Override
      public void failed(Exception cause) {
        ready.completeExceptionally(cause);
      }

      @Override
      public void cancelled() {
        ready.cancel(false);
      }
    };
  }

  @Override
  public void keepSending(int inFlight, LongSupplier next, Ended ended) {
    byte[] payload = OurSender.payload();
    Semaphore room = new Semaphore(inFlight);
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          for (long n = next.getAsLong(); n >= 0; n = next.getAsLong()) {
            room.acquireUninterruptibly();
            sessions
                .get((int) (n % sessions.size()))
                .enqueue(
                    new RequestExecutionCommand(
                        new Exchange(n, payload, room, ended), HttpCoreContext.create()),
                    Command.Priority.NORMAL);
          }
        });
  }

  @Override
  public void close() {
    requester.close(CloseMode.IMMEDIATE);
  }

  /// One notification. Confined to its connection's thread once enqueued.
  private final class Exchange implements AsyncClientExchangeHandler {
    private final long number;
    private final ByteBuffer body;
    private final Semaphore room;
    private final Ended ended;
    private final long began = System.nanoTime();
    private boolean well;
    private boolean over;

    private Exchange(long number, byte[] payload, Semaphore room, Ended ended) {
      this.number = number;
      this.body = ByteBuffer.wrap(payload);
      this.room = room;
      this.ended = ended;
    }

    @Override
    public void produceRequest(RequestChannel channel, HttpContext context)
        throws HttpException, IOException {
      HttpRequest request =
          new BasicHttpRequest("POST", host, "/3/device/" + NotificationSender.token(number));
      request.addHeader("apns-topic", OurSender.TOPIC);
      request.addHeader("apns-push-type", "alert");
      request.addHeader("apns-priority", "10");
      request.addHeader("apns-expiration", "1800000000");
      // Values that never come again would only push the others out of the table.
      request.addHeader(new BasicHeader("apns-id", new UUID(number, number).toString(), true));
      request.addHeader("authorization", OurSender.AUTHORIZATION);
      channel.sendRequest(
          request, new BasicEntityDetails(body.remaining(), ContentType.APPLICATION_JSON), context);
    }

    @Override
    public int available() {
      return body.remaining();
    }

    @Override
    public void produce(DataStreamChannel channel) throws IOException {
      channel.write(body);
      if (!body.hasRemaining()) {
        channel.endStream();
      }
    }

    @Override
    public void consumeInformation(HttpResponse response, HttpContext context) {}

    @Override
    public void consumeResponse(
        HttpResponse response, EntityDetails entityDetails, HttpContext context) {
      well = response.getCode() == 200;
      if (entityDetails == null) {
        end();
      }
    }

    @Override
    public void updateCapacity(CapacityChannel channel) throws IOException {
      channel.update(Integer.MAX_VALUE);
    }

    @Override
    public void consume(ByteBuffer part) {
      part.position(part.limit());
    }

    @Override
    public void streamEnd(List<? extends Header> trailers) {
      end();
    }

    @Override
    public void failed(Exception cause) {
      well = false;
      end();
    }

    @Override
    public void cancel() {
      well = false;
      end();
    }

    @Override
    public void releaseResources() {}

    private void end() {
      if (!over) {
        over = true;
        ended.ended(number, began, well);
        room.release();
      }
    }
  }
}
