package io.pushplanet.gateway.http2;

import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.pushplanet.gateway.http2.ScriptedServer.Peer;
import io.pushplanet.gateway.http2.ScriptedServer.Script;
import io.pushplanet.simulators.tls.Authority;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// A long line to Apple, without the time: a server with 1,000 streams on each connection that
/// accepts every notification, but holds some answers back until it is told to send them.
public final class HeldAnswers implements AutoCloseable {
  private final Queue<Runnable> held = new ConcurrentLinkedQueue<>();
  private final ScriptedServer server;

  /// @param token part of the path of the requests whose answers it holds back
  public HeldAnswers(Authority authority, String token) throws IOException {
    server =
        new ScriptedServer(
            new Script() {
              @Override
              public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
                // The first request proves the connection.
                if (headers.path().toString().contains(token) && peer.requests.get() > 1) {
                  held.add(() -> peer.later(() -> peer.answer(stream)));
                } else {
                  peer.answer(stream);
                }
              }
            },
            tls(authority),
            0,
            true);
  }

  public static SslContext tls(Authority authority) throws IOException {
    Authority.Identity identity = authority.server();
    return SslContextBuilder.forServer(identity.key(), identity.certificate())
        .sslProvider(SslProvider.JDK)
        .applicationProtocolConfig(
            new ApplicationProtocolConfig(
                Protocol.ALPN,
                SelectorFailureBehavior.NO_ADVERTISE,
                SelectedListenerFailureBehavior.ACCEPT,
                "h2"))
        .build();
  }

  public int port() {
    return server.port();
  }

  /// How many answers it holds back now.
  public int held() {
    return held.size();
  }

  public int connections() {
    return server.peers.size();
  }

  /// Sends the answers that it holds back.
  public void release() {
    for (Runnable answer = held.poll(); answer != null; answer = held.poll()) {
      answer.run();
    }
  }

  @Override
  public void close() {
    server.close();
  }
}
