package io.pushplanet.simulators.server;

import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionEncoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2PromisedRequestVerifier;
import io.netty.handler.codec.http2.Http2Settings;

/// Builds the codec of one connection: Netty's, but frames pass [ResetStreams] first.
final class ServerCodec extends Http2FrameCodecBuilder {
  private ServerCodec(Http2Settings settings, long largestHeaderListBytes) {
    initialSettings(settings.maxHeaderListSize(largestHeaderListBytes));
    gracefulShutdownTimeoutMillis(0);
    Http2Connection connection = new DefaultHttp2Connection(true);
    Http2ConnectionEncoder encoder =
        new DefaultHttp2ConnectionEncoder(connection, new DefaultHttp2FrameWriter());
    DefaultHttp2FrameReader reader =
        new DefaultHttp2FrameReader(
            new DefaultHttp2HeadersDecoder(isValidateHeaders(), largestHeaderListBytes));
    codec(
        new DefaultHttp2ConnectionDecoder(
            connection,
            encoder,
            new ResetStreams(reader, connection),
            Http2PromisedRequestVerifier.ALWAYS_VERIFY,
            isAutoAckSettingsFrame(),
            isAutoAckPingFrame(),
            isValidateHeaders(),
            isValidateRequiredPseudoHeaders()),
        encoder);
  }

  /// A codec that announces these settings.
  static Http2FrameCodec of(Http2Settings settings, long largestHeaderListBytes) {
    return new ServerCodec(settings, largestHeaderListBytes).build();
  }
}
