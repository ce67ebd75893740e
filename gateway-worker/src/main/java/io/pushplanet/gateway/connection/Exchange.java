package io.pushplanet.gateway.connection;

import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.connection.Reply.NotSent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.EntityDetails;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.HttpRequest;
import org.apache.hc.core5.http.HttpResponse;
import org.apache.hc.core5.http.RequestNotExecutedException;
import org.apache.hc.core5.http.impl.BasicEntityDetails;
import org.apache.hc.core5.http.nio.AsyncClientExchangeHandler;
import org.apache.hc.core5.http.nio.CapacityChannel;
import org.apache.hc.core5.http.nio.DataStreamChannel;
import org.apache.hc.core5.http.nio.RequestChannel;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.apache.hc.core5.http2.H2Error;
import org.apache.hc.core5.http2.H2StreamResetException;
import org.jspecify.annotations.Nullable;

/// One request and its answer. The handler's methods are confined to the connection's event loop; [#await] is for the sender.
final class Exchange implements AsyncClientExchangeHandler {
  private static final int MOST_BODY_BYTES = 64 * 1024;

  private final HttpRequest request;
  private final ByteBuffer body;
  private final Http2Connection connection;
  private final CompletableFuture<Reply> reply = new CompletableFuture<>();
  private final ByteArrayOutputStream received = new ByteArrayOutputStream(128);
  private @Nullable HttpResponse response;
  private volatile int streamId;

  Exchange(HttpRequest request, byte[] body, Http2Connection connection) {
    this.request = request;
    this.body = ByteBuffer.wrap(body);
    this.connection = connection;
  }

  /// @throws TimeoutException when nothing came in time
  Reply await(Duration deadline) throws TimeoutException, InterruptedException {
    try {
      return reply.get(deadline.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException("an exchange never ends by an exception", e);
    }
  }

  /// Tells which stream carries it, once its headers are written.
  void writtenOn(int stream) {
    streamId = stream;
  }

  boolean wasWritten() {
    return streamId > 0;
  }

  /// The peer went away and has not looked at streams above this one.
  void peerStoppedAt(int lastStream) {
    if (streamId > lastStream || !wasWritten()) {
      reply.complete(new NotSent("goaway"));
    }
  }

  void end(String why) {
    reply.complete(wasWritten() ? new NoAnswer(why) : new NotSent(why));
  }

  @Override
  public void produceRequest(RequestChannel channel, HttpContext context)
      throws HttpException, IOException {
    connection.nextHeadersAreOf(this);
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
  public void consumeInformation(HttpResponse information, HttpContext context) {}

  @Override
  public void consumeResponse(
      HttpResponse head, @Nullable EntityDetails entity, HttpContext context) {
    response = head;
    if (entity == null) {
      answered();
    }
  }

  @Override
  public void updateCapacity(CapacityChannel channel) throws IOException {
    channel.update(Integer.MAX_VALUE);
  }

  @Override
  public void consume(ByteBuffer part) {
    int taken = Math.min(part.remaining(), MOST_BODY_BYTES - received.size());
    byte[] bytes = new byte[taken];
    part.get(bytes);
    part.position(part.limit());
    received.write(bytes, 0, taken);
  }

  @Override
  public void streamEnd(@Nullable List<? extends Header> trailers) {
    answered();
  }

  @Override
  public void failed(Exception cause) {
    if (cause instanceof RequestNotExecutedException) {
      reply.complete(new NotSent("not_executed"));
      return;
    }
    if (cause instanceof H2StreamResetException reset) {
      boolean refused = reset.getCode() == H2Error.REFUSED_STREAM.getCode();
      reply.complete(refused ? new NotSent("refused_stream") : new NoAnswer("stream_reset"));
      return;
    }
    end("connection_failed");
  }

  @Override
  public void cancel() {
    end("cancelled");
  }

  @Override
  public void releaseResources() {
    end("connection_closed");
  }

  private void answered() {
    HttpResponse head = response;
    if (head == null) {
      return;
    }
    Map<String, String> headers = new HashMap<>();
    for (Header header : head.getHeaders()) {
      headers.putIfAbsent(header.getName().toLowerCase(Locale.ROOT), header.getValue());
    }
    connection.heard();
    reply.complete(new Answered(head.getCode(), headers, received.toByteArray()));
  }
}
