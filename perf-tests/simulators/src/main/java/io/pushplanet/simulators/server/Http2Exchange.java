package io.pushplanet.simulators.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.ReferenceCountUtil;
import io.pushplanet.simulators.server.Request.Header;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// One stream: collects the request, then executes the reaction. Confined to its event loop.
final class Http2Exchange extends ChannelInboundHandlerAdapter {
  /// More than any provider accepts, so that the endpoint itself answers "too large".
  private static final int LARGEST_BODY = 64 * 1024;

  /// The number of pieces of a trickling body.
  private static final int PIECES = 10;

  private final Http2Connection connection;
  private final List<Header> headers = new ArrayList<>();
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private String method = "";
  private String target = "";

  Http2Exchange(Http2Connection connection) {
    this.connection = connection;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object frame) throws Exception {
    try {
      switch (frame) {
        case Http2HeadersFrame head -> {
          read(head.headers());
          if (head.isEndStream()) {
            react(context);
          }
        }
        case Http2DataFrame data -> {
          if (body.size() < LARGEST_BODY) {
            data.content().readBytes(body, data.content().readableBytes());
          }
          if (data.isEndStream()) {
            react(context);
          }
        }
        default -> {}
      }
    } finally {
      ReferenceCountUtil.release(frame);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    Faults.report(cause);
    var _ = context.close();
  }

  private void read(Http2Headers head) {
    if (head.method() != null) {
      method = head.method().toString();
      target = head.path() == null ? "" : head.path().toString();
    }
    head.forEach(entry -> {
      String name = entry.getKey().toString();
      if (!name.startsWith(":")) {
        headers.add(new Header(name, entry.getValue().toString()));
      }
    });
  }

  private void react(ChannelHandlerContext context) {
    Http2StreamChannel stream = (Http2StreamChannel) context.channel();
    if (connection.ignores(stream.stream().id())) {
      return;
    }
    switch (connection.answer(
        stream.stream().id(), new Request(method, target, headers, body.toByteArray()))) {
      case Reaction.Answer answer -> send(context, answer);
      case Reaction.Trickle(Reaction.Answer answer, Duration over) ->
          trickle(context, answer, over);
      case Reaction.Silence _ -> {}
      case Reaction.Reset(long errorCode) ->
          context.writeAndFlush(new DefaultHttp2ResetFrame(errorCode)).addListener(written -> {});
      case Reaction.GoAway(Reaction.Answer answer, String debugData) -> {
        send(context, answer);
        connection.goAway(stream.parent(), debugData);
      }
      case Reaction.Drop _ -> connection.cut(stream.parent());
    }
    connection.announceStreams(stream.parent());
  }

  private static void send(ChannelHandlerContext context, Reaction.Answer answer) {
    if (answer.delay().isPositive()) {
      var _ =
          context
              .executor()
              .schedule(
                  () -> write(context, answer), answer.delay().toNanos(), TimeUnit.NANOSECONDS);
      return;
    }
    write(context, answer);
  }

  private static void trickle(
      ChannelHandlerContext context, Reaction.Answer answer, Duration over) {
    context
        .writeAndFlush(new DefaultHttp2HeadersFrame(head(answer), false))
        .addListener(written -> {});
    byte[] body = answer.body();
    for (int i = 0; i < PIECES; i++) {
      int from = body.length * i / PIECES;
      int to = body.length * (i + 1) / PIECES;
      boolean last = i == PIECES - 1;
      var _ =
          context
              .executor()
              .schedule(
                  () -> write(context, Unpooled.wrappedBuffer(body, from, to - from), last),
                  over.toNanos() * (i + 1) / PIECES,
                  TimeUnit.NANOSECONDS);
    }
  }

  private static void write(ChannelHandlerContext context, ByteBuf piece, boolean last) {
    context.writeAndFlush(new DefaultHttp2DataFrame(piece, last)).addListener(written -> {});
  }

  private static Http2Headers head(Reaction.Answer answer) {
    Http2Headers head = new DefaultHttp2Headers().status(Integer.toString(answer.status()));
    answer.headers().forEach(h -> head.add(h.name(), h.value()));
    return head;
  }

  private static void write(ChannelHandlerContext context, Reaction.Answer answer) {
    boolean bodiless = answer.body().length == 0;
    context.write(new DefaultHttp2HeadersFrame(head(answer), bodiless)).addListener(written -> {});
    if (!bodiless) {
      context
          .write(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(answer.body()), true))
          .addListener(written -> {});
    }
    context.flush();
  }
}
