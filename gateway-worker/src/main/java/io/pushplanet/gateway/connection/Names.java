package io.pushplanet.gateway.connection;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Looks hosts up, anew each time but for the half minute that the JVM keeps an answer: a vendor's host may move. Nobody waits
/// longer than he has time; the JVM goes on and keeps what it finds for those who come later. Thread-safe.
public final class Names {
  private final NameService service;

  /// The JDK's, in tests another.
  @FunctionalInterface
  public interface NameService {
    InetAddress[] addresses(String host) throws UnknownHostException;
  }

  public Names(NameService service) {
    this.service = service;
  }

  public Names() {
    this(InetAddress::getAllByName);
  }

  /// @return at least one
  /// @throws UnknownHostException also when no name server answers within `deadline`
  public InetAddress[] addresses(String host, Duration deadline)
      throws UnknownHostException, InterruptedException {
    FutureTask<InetAddress[]> lookup = new FutureTask<>(() -> service.addresses(host));
    Thread.ofVirtual().name("name-lookup").start(lookup);
    try {
      return lookup.get(deadline.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw unknown(String.valueOf(e.getCause()), e);
    } catch (TimeoutException e) {
      throw unknown(host + ": no name server answered within " + deadline.toMillis() + " ms", e);
    }
  }

  private static UnknownHostException unknown(String why, Exception cause) {
    UnknownHostException unknown = new UnknownHostException(why);
    unknown.initCause(cause);
    return unknown;
  }
}
