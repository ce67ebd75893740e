package io.pushplanet.gateway.http2;

import static io.netty.handler.codec.http2.Http2Exception.connectionError;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What each of the peer's frames means to our requests (RFC 9113). Confined to its event loop.
final class PeerFrames implements Http2FrameListener {
  private static final Logger LOG = LoggerFactory.getLogger(PeerFrames.class);
  private static final int SMALLEST_FINAL_STATUS = 200;
  private static final int LONGEST_REASON = 200;

  private final Http2Streams streams;
  private final Http2Connection connection;

  PeerFrames(Http2Streams streams, Http2Connection connection) {
    this.streams = streams;
    this.connection = connection;
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext ctx, int stream, Http2Headers headers, int padding, boolean last)
      throws Http2Exception {
    Exchange exchange = openOrEnded(stream);
    if (exchange == null) {
      return;
    }
    if (exchange.hasHead()) {
      trailers(exchange, last);
      return;
    }
    int status = status(headers.status());
    if (status < SMALLEST_FINAL_STATUS) {
      if (status == 0 || last) {
        malformed(exchange);
      }
      return;
    }
    exchange.answered(status, headers);
    if (last) {
      streams.answered(exchange);
    }
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext ctx,
      int stream,
      Http2Headers headers,
      int dependency,
      short weight,
      boolean exclusive,
      int padding,
      boolean last)
      throws Http2Exception {
    onHeadersRead(ctx, stream, headers, padding, last);
  }

  private void trailers(Exchange exchange, boolean last) {
    if (last) {
      streams.answered(exchange);
    } else {
      malformed(exchange);
    }
  }

  private void malformed(Exchange exchange) {
    streams.reset(exchange.stream, Http2Error.PROTOCOL_ERROR);
    streams.noAnswer(exchange, "malformed_answer");
  }

  private static int status(@Nullable CharSequence text) {
    if (text == null || text.length() != 3) {
      return 0;
    }
    int status = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return 0;
      }
      status = status * 10 + digit;
    }
    return status;
  }

  @Override
  public int onDataRead(
      ChannelHandlerContext ctx, int stream, ByteBuf data, int padding, boolean last)
      throws Http2Exception {
    int bytes = data.readableBytes() + padding;
    streams.read(bytes);
    Exchange exchange = openOrEnded(stream);
    if (exchange == null) {
      return bytes;
    }
    if (!exchange.hasHead()) {
      malformed(exchange);
      return bytes;
    }
    boolean wasRoom = exchange.bodyRead(data);
    if (last) {
      streams.answered(exchange);
    } else if (!wasRoom) {
      streams.reset(stream, Http2Error.CANCEL);
      streams.answered(exchange);
    }
    return bytes;
  }

  @Override
  public void onRstStreamRead(ChannelHandlerContext ctx, int stream, long error)
      throws Http2Exception {
    Exchange exchange = openOrEnded(stream);
    if (exchange == null) {
      return;
    }
    if (error == Http2Error.REFUSED_STREAM.code()) {
      streams.refused(exchange);
    } else {
      streams.brokenOff(exchange);
    }
  }

  /// A setting that the frame does not name keeps its value.
  @Override
  public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) {
    Long mostStreams = settings.maxConcurrentStreams();
    if (mostStreams != null) {
      connection.allow(mostStreams);
    }
    streams.peerSettings(settings.headerTableSize(), settings.initialWindowSize());
  }

  @Override
  public void onWindowUpdateRead(ChannelHandlerContext ctx, int stream, int increment)
      throws Http2Exception {
    if (stream == 0) {
      if (!connection.widen(increment)) {
        throw connectionError(Http2Error.FLOW_CONTROL_ERROR, "the window is past its limit");
      }
      streams.peerMadeRoom();
      return;
    }
    Exchange exchange = openOrEnded(stream);
    if (exchange != null) {
      streams.peerWidened(exchange, increment);
    }
  }

  @Override
  public void onGoAwayRead(
      ChannelHandlerContext ctx, int lastStream, long error, ByteBuf debugData) {
    int length = Math.min(LONGEST_REASON, debugData.readableBytes());
    String reason =
        debugData
            .toString(debugData.readerIndex(), length, StandardCharsets.US_ASCII)
            .replaceAll("[^ -~]", "?");
    LOG.info("event=goaway lastStream={} error={} reason=\"{}\"", lastStream, error, reason);
    streams.peerGoesAway(lastStream);
  }

  @Override
  public void onPingRead(ChannelHandlerContext ctx, long content) {
    streams.peerPinged(content);
  }

  @Override
  public void onPingAckRead(ChannelHandlerContext ctx, long content) {
    streams.peerAnsweredPing();
  }

  @Override
  public void onPushPromiseRead(
      ChannelHandlerContext ctx, int stream, int promised, Http2Headers headers, int padding)
      throws Http2Exception {
    throw connectionError(Http2Error.PROTOCOL_ERROR, "pushes, though we switched that off");
  }

  @Override
  public void onSettingsAckRead(ChannelHandlerContext ctx) {}

  @Override
  public void onPriorityRead(
      ChannelHandlerContext ctx, int stream, int dependency, short weight, boolean exclusive) {}

  @Override
  public void onUnknownFrame(
      ChannelHandlerContext ctx, byte type, int stream, Http2Flags flags, ByteBuf payload) {}

  /// The stream's exchange, or null when it has ended: a late frame is no error, because the peer
  /// may not know of the end yet.
  private @Nullable Exchange openOrEnded(int stream) throws Http2Exception {
    Exchange exchange = streams.at(stream);
    if (exchange == null && streams.isIdle(stream)) {
      throw connectionError(
          Http2Error.PROTOCOL_ERROR, "speaks of stream %d, which is idle", stream);
    }
    return exchange;
  }
}
