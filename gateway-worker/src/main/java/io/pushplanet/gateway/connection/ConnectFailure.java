package io.pushplanet.gateway.connection;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// Why there is no connection, in a word for timelines. Each word points to another part of the
/// way.
public final class ConnectFailure {
  /// Nothing more is known.
  public static final String UNKNOWN = "no_connection";

  /// The peer accepted connections, and ended them before it had answered anything: by GOAWAY, by a
  /// TLS alert for our certificate, or without a word.
  public static final String ENDED = "connection_ended";

  /// All connections that a worker may have are in use, with other credentials.
  public static final String TOO_MANY = "too_many_connections";

  private ConnectFailure() {}

  /// `dns_failed`: our resolver. `connect_refused`, `no_route`: a firewall or a wrong address.
  /// `connect_timeout`: something on the way drops packets, or the peer is overloaded.
  /// `tls_failed`: a proxy that opens TLS, the trusted certificates, or a client certificate.
  public static String word(@Nullable Throwable failure) {
    return Stream.iterate(failure, cause -> cause != null, Throwable::getCause)
        .limit(10)
        .flatMap(cause -> known(cause).stream())
        .findFirst()
        .orElse(UNKNOWN);
  }

  private static Optional<String> known(Throwable cause) {
    return Optional.ofNullable(
        switch (cause) {
          case UnknownHostException _ -> "dns_failed";
          case ConnectTimeoutException _ -> "connect_timeout";
          case SslHandshakeTimeoutException _ -> "connect_timeout";
          case SocketTimeoutException _ -> "connect_timeout";
          case TimeoutException _ -> "connect_timeout";
          case SSLException _ -> "tls_failed";
          case NoRouteToHostException _ -> "no_route";
          case ConnectException _ -> "connect_refused";
          default -> null;
        });
  }
}
