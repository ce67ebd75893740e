package io.pushplanet.gateway.connection;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Looks hosts up each time, except for the half minute for which the JVM keeps an answer: a
/// vendor's host may move. A caller waits only until its deadline; the JVM goes on, and keeps the
/// result for later callers. Thread-safe.
public final class Names {
  private final NameService service;

  /// The JDK's name service, replaced in tests.
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
