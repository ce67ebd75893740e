package io.pushplanet.dispatcher;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.BeanPostProcessor;

/// Records every statement that the dispatcher sends to MySQL for a request. It counts the
/// statements of the change feed instead, and leaves out those of background work.
final class SqlCount implements BeanPostProcessor {
  private static final Set<String> BY_THEMSELVES = Set.of("session-writer", "denied-devices");

  private final ConcurrentLinkedQueue<String> statements = new ConcurrentLinkedQueue<>();

  private final AtomicInteger looks = new AtomicInteger();

  /// How often the change feed has begun a poll.
  int looks() {
    return looks.get();
  }

  void reset() {
    statements.clear();
  }

  List<String> statements() {
    return List.copyOf(statements);
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    return bean instanceof DataSource real
        ? wrap(
            DataSource.class,
            real,
            (proxy, method, arguments) -> {
              Object result = method.invoke(real, arguments);
              return result instanceof Connection connection ? connection(connection) : result;
            })
        : bean;
  }

  private Connection connection(Connection real) {
    return wrap(
        Connection.class,
        real,
        (proxy, method, arguments) -> {
          Object result = method.invoke(real, arguments);
          return result instanceof PreparedStatement statement && arguments[0] instanceof String sql
              ? statement(statement, sql)
              : result;
        });
  }

  private void heard(String sql) {
    if (sql.contains("FROM changes")) {
      looks.incrementAndGet();
    } else if (!BY_THEMSELVES.contains(Thread.currentThread().getName())) {
      statements.add(sql);
    }
  }

  private PreparedStatement statement(PreparedStatement real, String sql) {
    return wrap(
        PreparedStatement.class,
        real,
        (proxy, method, arguments) -> {
          if (method.getName().startsWith("execute")) {
            heard(sql);
          }
          return method.invoke(real, arguments);
        });
  }

  private static <T> T wrap(Class<T> type, T real, InvocationHandler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            SqlCount.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return handler.invoke(proxy, method, arguments);
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            }));
  }
}
