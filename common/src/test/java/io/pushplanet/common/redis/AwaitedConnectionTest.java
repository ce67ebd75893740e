package io.pushplanet.common.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class AwaitedConnectionTest {
  private final AtomicInteger closes = new AtomicInteger();
  private final List<Throwable> failures = new ArrayList<>();
  private Supplier<StatefulRedisConnection<String, String>> connect = this::connection;
  private final AwaitedConnection<StatefulRedisConnection<String, String>> awaited =
      new AwaitedConnection<>(() -> connect.get(), failures::add);

  @Test
  void a_connection_is_kept_until_the_close() {
    assertThat(awaited.get()).isNull();
    assertThat(awaited.connects()).isTrue();
    assertThat(awaited.get()).isNotNull();
    assertThat(closes).hasValue(0);

    awaited.close();

    assertThat(closes).hasValue(1);
    assertThat(failures).isEmpty();
  }

  @Test
  void a_connection_that_is_made_during_the_close_is_closed() {
    connect =
        () -> {
          awaited.close();
          return connection();
        };

    awaited.connects();

    assertThat(closes).hasValue(1);
  }

  @Test
  void a_connection_that_is_made_later_is_kept_as_well() {
    var away = new RedisConnectionException("Redis is away");
    connect =
        () -> {
          connect = this::connection;
          throw away;
        };

    assertThat(awaited.connects()).isFalse();
    assertThat(awaited.get()).isNull();
    assertThat(awaited.connectsLater()).isTrue();

    assertThat(awaited.get()).isNotNull();
    assertThat(closes).hasValue(0);
    assertThat(failures).containsExactly(away);
  }

  @Test
  void nothing_is_tried_after_the_close() {
    awaited.close();

    assertThat(awaited.connectsLater()).isFalse();
    assertThat(awaited.get()).isNull();
  }

  @SuppressWarnings("unchecked")
  private StatefulRedisConnection<String, String> connection() {
    return (StatefulRedisConnection<String, String>)
        Proxy.newProxyInstance(
            StatefulRedisConnection.class.getClassLoader(),
            new Class<?>[] {StatefulRedisConnection.class},
            (_, method, _) -> {
              assertThat(method.getName()).isEqualTo("close");
              return closes.incrementAndGet();
            });
  }
}
