package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ConnectFailureTest {
  private static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of(new UnknownHostException("api.push.apple.com"), "dns_failed"),
        Arguments.of(new ConnectException("Connection refused"), "connect_refused"),
        Arguments.of(new NoRouteToHostException("No route to host"), "no_route"),
        Arguments.of(new ConnectTimeoutException("connection timed out"), "connect_timeout"),
        Arguments.of(new SocketTimeoutException("timed out"), "connect_timeout"),
        Arguments.of(new TimeoutException(), "connect_timeout"),
        Arguments.of(new SslHandshakeTimeoutException("timed out"), "connect_timeout"),
        Arguments.of(new SSLHandshakeException("PKIX path building failed"), "tls_failed"),
        Arguments.of(new IOException("closed by the peer"), ConnectFailure.UNKNOWN));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void a_failure_has_its_word_also_where_others_wrap_it(Exception failure, String word) {
    assertThat(ConnectFailure.word(failure)).isEqualTo(word);
    assertThat(ConnectFailure.word(new IOException("wrapped", new IOException(failure))))
        .isEqualTo(word);
  }

  @Test
  void an_unknown_failure_has_the_general_word() {
    assertThat(ConnectFailure.word(null)).isEqualTo(ConnectFailure.UNKNOWN);
  }
}
