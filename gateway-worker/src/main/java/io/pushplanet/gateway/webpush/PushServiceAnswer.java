package io.pushplanet.gateway.webpush;

import io.pushplanet.gateway.connection.Reply.Answered;
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

/// Keeps the status and two headers of an answer and throws its body away; one that does not end is hung up on. Written by
/// the event loop, read by the sender.
final class PushServiceAnswer implements AsyncResponseConsumer<Answered> {
  private static final int MOST_BODY_BYTES = 64 * 1_024;
  private static final int LONGEST_VALUE = 255;
  private static final List<String> KEPT = List.of("retry-after", "location");

  private volatile @Nullable Answered seen;
  private @Nullable FutureCallback<Answered> callback;
  private int bodyBytes;

  /// What has come of it, null when nothing has.
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
  public void consume(ByteBuffer body) throws IOException {
    bodyBytes += body.remaining();
    body.position(body.limit());
    if (bodyBytes > MOST_BODY_BYTES) {
      throw new IOException("an answer without end");
    }
  }

  @Override
  public void streamEnd(@Nullable List<? extends Header> trailers) {
    if (callback != null && seen != null) {
      callback.completed(seen);
    }
  }

  @Override
  public void failed(Exception cause) {}

  @Override
  public void releaseResources() {}
}
