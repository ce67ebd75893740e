package io.pushplanet.simulators.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2FrameReader;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2LocalFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/// Reads the frames of one connection and ignores those of streams that the server has reset: the
/// client sent them before it knew. They still count for flow control and header compression
/// ([RFC 9113, section 5.1](https://www.rfc-editor.org/rfc/rfc9113#section-5.1), "closed"). Netty
/// does not remember a stream that it has refused and would end the connection.
///
/// Confined to its event loop.
final class ResetStreams implements Http2FrameReader {
  /// Of older resets the client knows by then.
  private static final int MAX_REMEMBERED = 1_000;

  private final Http2FrameReader reader;
  private final Http2Connection connection;
  private final Set<Integer> reset =
      Collections.newSetFromMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, Boolean> eldest) {
              return size() > MAX_REMEMBERED;
            }
          });

  ResetStreams(Http2FrameReader reader, Http2Connection connection) {
    this.reader = reader;
    this.connection = connection;
  }

  @Override
  public void readFrame(ChannelHandlerContext context, ByteBuf in, Http2FrameListener listener)
      throws Http2Exception {
    try {
      reader.readFrame(context, in, new Filter(listener));
    } catch (Http2Exception.StreamException answeredWithReset) {
      reset.add(answeredWithReset.streamId());
      throw answeredWithReset;
    }
  }

  @Override
  public Configuration configuration() {
    return reader.configuration();
  }

  @Override
  public void close() {
    reader.close();
  }

  private final class Filter extends Http2FrameListenerDecorator {
    Filter(Http2FrameListener listener) {
      super(listener);
    }

    @Override
    public int onDataRead(
        ChannelHandlerContext context, int id, ByteBuf data, int padding, boolean last)
        throws Http2Exception {
      if (!reset.contains(id)) {
        return super.onDataRead(context, id, data, padding, last);
      }
      int bytes = data.readableBytes() + padding;
      Http2LocalFlowController window = connection.local().flowController();
      Http2Stream stream = connection.stream(id);
      window.receiveFlowControlledFrame(stream, data, padding, last);
      var _ = window.consumeBytes(stream, bytes);
      return bytes;
    }

    @Override
    public void onHeadersRead(
        ChannelHandlerContext context, int id, Http2Headers head, int padding, boolean last)
        throws Http2Exception {
      if (!reset.contains(id)) {
        super.onHeadersRead(context, id, head, padding, last);
      }
    }

    @Override
    public void onHeadersRead(
        ChannelHandlerContext context,
        int id,
        Http2Headers head,
        int dependency,
        short weight,
        boolean exclusive,
        int padding,
        boolean last)
        throws Http2Exception {
      if (!reset.contains(id)) {
        super.onHeadersRead(context, id, head, dependency, weight, exclusive, padding, last);
      }
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext context, int id, long errorCode)
        throws Http2Exception {
      if (!reset.contains(id)) {
        super.onRstStreamRead(context, id, errorCode);
      }
    }

    @Override
    public void onWindowUpdateRead(ChannelHandlerContext context, int id, int increment)
        throws Http2Exception {
      if (!reset.contains(id)) {
        super.onWindowUpdateRead(context, id, increment);
      }
    }
  }
}
