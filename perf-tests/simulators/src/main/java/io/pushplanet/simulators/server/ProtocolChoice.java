package io.pushplanet.simulators.server;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Optional;
import javax.net.ssl.SSLPeerUnverifiedException;

/// Sets the connection up for the protocol its handshake chose.
final class ProtocolChoice extends ApplicationProtocolNegotiationHandler {
  private static final int FRAME_SIZE = 16_384;
  private static final int WINDOW = 1 << 20;
  private static final int LARGEST_HEADER_LIST_BYTES = 16_384;

  private final Endpoint endpoint;

  /// A client that offers no protocol at all gets `fallback`: APNs speaks HTTP/2 to it (pushy
  /// relies on that).
  ProtocolChoice(Endpoint endpoint, String fallback) {
    super(fallback);
    this.endpoint = endpoint;
  }

  @Override
  protected void configurePipeline(ChannelHandlerContext context, String protocol) {
    if (!ApplicationProtocolNames.HTTP_2.equals(protocol)) {
      Http1Exchange.install(context.pipeline(), endpoint);
      return;
    }
    Endpoint.Conversation conversation = endpoint.connected(clientCertificate(context));
    Http2FrameCodec codec =
        ServerCodec.of(
            Http2Settings.defaultSettings()
                .maxConcurrentStreams(conversation.allowedStreams())
                .initialWindowSize(WINDOW)
                .maxFrameSize(FRAME_SIZE),
            LARGEST_HEADER_LIST_BYTES);
    Http2Connection connection = new Http2Connection(codec, conversation);
    context
        .pipeline()
        .addLast(
            codec,
            new Http2MultiplexHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel stream) {
                    stream.pipeline().addLast(new Http2Exchange(connection));
                  }
                }));
  }

  @Override
  protected void handshakeFailure(ChannelHandlerContext context, Throwable cause) {
    var _ = context.close();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    Faults.report(cause);
    var _ = context.close();
  }

  private static Optional<X509Certificate> clientCertificate(ChannelHandlerContext context) {
    try {
      SslHandler tls = context.pipeline().get(SslHandler.class);
      Certificate[] chain = tls.engine().getSession().getPeerCertificates();
      return Optional.of((X509Certificate) chain[0]);
    } catch (SSLPeerUnverifiedException anonymous) {
      return Optional.empty();
    }
  }
}
