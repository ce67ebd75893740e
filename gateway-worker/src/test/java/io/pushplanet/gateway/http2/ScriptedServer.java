package io.pushplanet.gateway.http2;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.SslContext;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// An HTTP/2 server frame by frame: its script decides what it sends and what it leaves out. It
/// knows none of the rules itself, but it counts streams, so that a client that opens too many is
/// seen. One event loop; a script's arguments are confined to it.
public final class ScriptedServer implements AutoCloseable {
  private static final int PREFACE_BYTES = 24;
  private static final byte[] OK = {(byte) 0x88};

  /// What the server does.
  public interface Script {
    /// After the client's preface. SETTINGS come first.
    default void connected(Peer peer) {
      peer.settings(new Http2Settings().maxConcurrentStreams(1_000).initialWindowSize(1 << 20));
      peer.widen(0, 1 << 30);
    }

    /// The head of a request with a body is there.
    default void began(Peer peer, int stream) {}

    /// A request is complete.
    void request(Peer peer, int stream, Http2Headers headers, byte[] body);

    /// A part of a body that goes on.
    default void partOfBody(Peer peer, int stream, int bytes) {}

    /// The client sent a PING; it gets its answer.
    default void pinged(Peer peer) {}

    /// The client gave a stream up.
    default void reset(Peer peer, int stream, long error) {}
  }

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Channel listener;
  private final Script script;
  private final AtomicInteger connections = new AtomicInteger();
  private final boolean keeps;

  /// Every client that ever connected.
  public final List<Peer> peers = new CopyOnWriteArrayList<>();

  public ScriptedServer(Script script) {
    this(script, null, 0, true);
  }

  /// @param tls null = plain, with prior knowledge
  /// @param keeps whether bodies and headers are decoded and kept for the script; a benchmark does
  ///     not look at them
  public ScriptedServer(Script script, @Nullable SslContext tls, int port, boolean keeps) {
    this.script = script;
    this.keeps = keeps;
    this.listener =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    if (tls != null) {
                      channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                    }
                    Peer peer = new Peer(connections.incrementAndGet());
                    peers.add(peer);
                    channel.pipeline().addLast(peer);
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), port)
            .syncUninterruptibly()
            .channel();
  }

  public int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  @Override
  public void close() {
    if (loops.isShuttingDown()) {
      return;
    }
    listener.close().syncUninterruptibly();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  /// One connection.
  public final class Peer extends ByteToMessageDecoder {
    final int number;
    public final AtomicInteger requests = new AtomicInteger();
    volatile int maxOpen;
    volatile boolean left;
    public final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private final DefaultHttp2FrameReader reader =
        new DefaultHttp2FrameReader(new DefaultHttp2HeadersDecoder(false, 1 << 20));
    private final IntObjectMap<Http2Headers> heads = new IntObjectHashMap<>();
    private final IntObjectMap<byte[]> bodies = new IntObjectHashMap<>();
    private boolean prefaceSeen;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ByteBuf out;
    private int open;
    private boolean deaf;

    private Peer(int number) {
      this.number = number;
    }

    // What a script can say.

    public void answer(int stream) {
      Frames.head(out(), OK.length, Frames.HEADERS, Frames.END_HEADERS | Frames.END_STREAM, stream);
      out().writeBytes(OK);
      open--;
    }

    /// @param block a header block in HPACK's form
    public void headers(int stream, int flags, byte[] block) {
      frame(Frames.HEADERS, flags, stream, block);
    }

    public void data(int stream, byte[] body, boolean last) {
      Frames.data(out(), stream, body, 0, body.length, last);
    }

    public void reset(int stream, long error) {
      Frames.reset(out(), stream, error);
      open--;
    }

    public void goAway(int lastStream, long error, String reason) {
      Frames.head(out(), 8 + reason.length(), Frames.GOAWAY, 0, 0);
      out().writeInt(lastStream);
      out().writeInt((int) error);
      out().writeCharSequence(reason, StandardCharsets.US_ASCII);
    }

    public void settings(Http2Settings settings) {
      Frames.head(out(), settings.size() * 6, Frames.SETTINGS, 0, 0);
      settings.forEach((name, value) -> {
        out().writeShort(name);
        out().writeInt((int) (long) value);
      });
    }

    public void widen(int stream, int bytes) {
      Frames.windowUpdate(out(), stream, bytes);
    }

    public void frame(int type, int flags, int stream, byte[] payload) {
      Frames.head(out(), payload.length, (byte) type, flags, stream);
      out().writeBytes(payload);
    }

    public void raw(byte[] bytes) {
      out().writeBytes(bytes);
    }

    public void drop() {
      flush();
      var _ = context().close();
    }

    public void dropAfter(Duration delay) {
      var _ = context().executor().schedule(this::drop, delay.toMillis(), TimeUnit.MILLISECONDS);
    }

    /// From now on it reads nothing and answers nothing, not even PINGs.
    public void fallSilent() {
      deaf = true;
    }

    public int openNow() {
      return open;
    }

    /// Runs a step on the event loop again and again, for as long as the connection is open.
    public void every(Duration pause, Runnable step) {
      var _ =
          context()
              .executor()
              .schedule(
                  () -> {
                    if (!left) {
                      step.run();
                      flush();
                      every(pause, step);
                    }
                  },
                  pause.toMillis(),
                  TimeUnit.MILLISECONDS);
    }

    /// Runs a step on the event loop, and flushes.
    public void later(Runnable step) {
      context()
          .executor()
          .execute(() -> {
            step.run();
            flush();
          });
    }

    private ByteBuf out() {
      if (out == null) {
        out = context().alloc().buffer(4_096);
      }
      return out;
    }

    private ChannelHandlerContext context() {
      if (context == null) {
        throw new IllegalStateException("not connected yet");
      }
      return context;
    }

    private void flush() {
      if (out != null) {
        ByteBuf written = out;
        out = null;
        var _ = context().writeAndFlush(written);
      }
    }

    // What the client says.

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
      context = added;
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> ignored)
        throws Http2Exception {
      if (deaf) {
        in.skipBytes(in.readableBytes());
        return;
      }
      if (!prefaceSeen) {
        if (in.readableBytes() < PREFACE_BYTES) {
          return;
        }
        in.skipBytes(PREFACE_BYTES);
        prefaceSeen = true;
        script.connected(this);
      }
      reader.readFrame(ctx, in, new Client());
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
      flush();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      left = true;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      failures.add(cause);
      var _ = ctx.close();
    }

    private void complete(int stream) {
      requests.incrementAndGet();
      Http2Headers head = heads.remove(stream);
      byte[] body = bodies.remove(stream);
      script.request(Peer.this, stream, head, body == null ? new byte[0] : body);
    }

    private final class Client extends Http2FrameAdapter {
      @Override
      public void onHeadersRead(
          ChannelHandlerContext ctx, int stream, Http2Headers headers, int padding, boolean last) {
        open++;
        maxOpen = Math.max(maxOpen, open);
        if (keeps) {
          heads.put(stream, headers);
        }
        if (last) {
          complete(stream);
        } else {
          script.began(Peer.this, stream);
        }
      }

      @Override
      public int onDataRead(
          ChannelHandlerContext ctx, int stream, ByteBuf data, int padding, boolean last) {
        if (keeps) {
          byte[] before = bodies.get(stream);
          byte[] part = ByteBufUtil.getBytes(data);
          byte[] whole = new byte[(before == null ? 0 : before.length) + part.length];
          if (before != null) {
            System.arraycopy(before, 0, whole, 0, before.length);
          }
          System.arraycopy(part, 0, whole, whole.length - part.length, part.length);
          bodies.put(stream, whole);
        }
        if (last) {
          complete(stream);
        } else {
          script.partOfBody(Peer.this, stream, data.readableBytes());
        }
        return 0;
      }

      @Override
      public void onRstStreamRead(ChannelHandlerContext ctx, int stream, long error) {
        open--;
        script.reset(Peer.this, stream, error);
      }

      @Override
      public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) {
        Frames.settingsAck(out());
      }

      @Override
      public void onPingRead(ChannelHandlerContext ctx, long content) {
        Frames.ping(out(), true, content);
        script.pinged(Peer.this);
      }
    }
  }
}
