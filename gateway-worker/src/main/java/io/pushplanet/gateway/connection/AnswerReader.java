package io.pushplanet.gateway.connection;

import io.pushplanet.gateway.connection.Reply.Answered;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hc.core5.concurrent.FutureCallback;
import org.apache.hc.core5.http.EntityDetails;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpResponse;
import org.apache.hc.core5.http.nio.AsyncResponseConsumer;
import org.apache.hc.core5.http.nio.CapacityChannel;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.jspecify.annotations.Nullable;

/// Keeps an answer's status, two headers and, where wanted, its body. The connection of an answer
/// that does not end is closed. Written by the event loop, read by the sender.
final class AnswerReader implements AsyncResponseConsumer<Answered> {
  private static final int LONGEST_VALUE = 255;
  private static final List<String> KEPT = List.of("retry-after", "location");

  private final int mostBodyBytes;
  private final @Nullable ByteArrayOutputStream body;
  private volatile @Nullable Answered seen;
  private @Nullable FutureCallback<Answered> callback;
  private int bodyBytes;

  /// @param keepsBody whether the body is kept
  AnswerReader(int mostBodyBytes, boolean keepsBody) {
    this.mostBodyBytes = mostBodyBytes;
    this.body = keepsBody ? new ByteArrayOutputStream() : null;
  }

  /// The answer so far, without a body that has not ended; null when there is none.
  @Nullable Answered seen() {
    return seen;
  }

  @Override
  public void consumeResponse(
      HttpResponse response,
      @Nullable EntityDetails entity,
      HttpContext context,
      FutureCallback<Answered> whole) {
    Map<String, String> headers = new HashMap<>();
    for (String name : KEPT) {
      Header header = response.getFirstHeader(name);
      if (header != null
          && header.getValue() != null
          && header.getValue().length() <= LONGEST_VALUE) {
        headers.put(name, header.getValue());
      }
    }
    Answered answered = new Answered(response.getCode(), headers, new byte[0]);
    seen = answered;
    if (entity == null) {
      whole.completed(answered);
    } else {
      callback = whole;
    }
  }

  @Override
  public void informationResponse(HttpResponse response, HttpContext context) {}

  @Override
  public void updateCapacity(CapacityChannel capacity) throws IOException {
    capacity.update(Integer.MAX_VALUE);
  }

  @Override
  public void consume(ByteBuffer part) throws IOException {
    bodyBytes += part.remaining();
    if (bodyBytes > mostBodyBytes) {
      throw new IOException("an answer without end");
    }
    byte[] bytes = new byte[part.remaining()];
    part.get(bytes);
    if (body != null) {
      body.write(bytes);
    }
  }

  @Override
  public void streamEnd(@Nullable List<? extends Header> trailers) {
    Answered head = seen;
    if (callback == null || head == null) {
      return;
    }
    Answered whole =
        body == null ? head : new Answered(head.status(), head.headers(), body.toByteArray());
    seen = whole;
    callback.completed(whole);
  }

  @Override
  public void failed(Exception cause) {}

  @Override
  public void releaseResources() {}
}
