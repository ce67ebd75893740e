package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.quickstart.services.LocalServices;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.SecureRandom;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;

/// The real dispatcher on real services, as its callers see it: one for each test JVM and set of
/// settings.
final class RunningDispatcher {
  private static final Map<Map<String, String>, RunningDispatcher> RUNNING =
      new ConcurrentHashMap<>();
  private static final AtomicInteger APPS = new AtomicInteger();
  private static final SecureRandom RANDOM = new SecureRandom();

  final LocalServices services = LocalServices.forTests();
  final ConfigurableApplicationContext context;
  final SqlCount sql;
  private final int port;
  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(60)).build();

  private RunningDispatcher(Map<String, String> more) {
    Map<String, Object> settings = new TreeMap<>();
    settings.put("server.port", "0");
    settings.put("management.server.port", "0");
    settings.put("pushplanet.mysql.url", services.mysql().jdbcUrl());
    settings.put("pushplanet.mysql.user", services.mysql().user());
    settings.put("pushplanet.mysql.password", services.mysql().password());
    settings.put("pushplanet.redis.uri", services.redis().toString());
    settings.put("pushplanet.amqp.uri", services.amqp().toString());
    settings.put("pushplanet.master-key", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    settings.putAll(more);
    this.context =
        new SpringApplicationBuilder(DispatcherApplication.class, SqlCount.class)
            .run(
                settings.entrySet().stream()
                    .map(entry -> "--" + entry.getKey() + "=" + entry.getValue())
                    .toArray(String[]::new));
    this.sql = context.getBean(SqlCount.class);
    this.port = context.getEnvironment().getRequiredProperty("local.server.port", int.class);
    // The dispatcher begins to listen before its lane has declared the queues.
    Eventually.within(Duration.ofMinutes(2), () -> assertThat(readiness()).isEqualTo(200));
  }

  static RunningDispatcher shared() {
    return with(Map.of());
  }

  static RunningDispatcher with(Map<String, String> settings) {
    return RUNNING.computeIfAbsent(settings, RunningDispatcher::new);
  }

  int port() {
    return port;
  }

  int managementPort() {
    return context.getEnvironment().getRequiredProperty("local.management.port", int.class);
  }

  /// The metrics in the form for Prometheus.
  String metrics() {
    return management("/actuator/prometheus").body();
  }

  /// The status of the readiness check.
  int readiness() {
    return management("/actuator/health/readiness").statusCode();
  }

  /// The status of the health check: whether all servers are there.
  int health() {
    return management("/actuator/health").statusCode();
  }

  private HttpResponse<String> management(String path) {
    URI page = URI.create("http://127.0.0.1:" + managementPort() + path);
    try {
      return http.send(
          HttpRequest.newBuilder(page).timeout(Duration.ofSeconds(60)).build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new IllegalStateException(page + ": " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /// The second of the epoch up to which Redis denies passwords of this device; 0 for none.
  long deniedUntil(DeviceKey device) {
    String held =
        context
            .getBean(RedisLink.class)
            .<@Nullable String>ask(commands -> commands.get(denied(device)));
    return held == null ? 0 : Long.parseLong(held);
  }

  /// The key in Redis.
  static String denied(DeviceKey device) {
    return "denied:" + device.app().value() + "/" + device.device().value();
  }

  /// An app of its own, with a key that may do everything.
  Tenant tenant() {
    return tenant("send,devices,read");
  }

  Tenant tenant(String scopes) {
    String app = "app-" + APPS.incrementAndGet() + "-" + Long.toString(System.nanoTime(), 36);
    execute("INSERT INTO apps (id, name, created_at) VALUES (?, ?, NOW(3))", app, "An app");
    return new Tenant(this, app, key(app, scopes));
  }

  ApiKey key(String app, String scopes) {
    ApiKey key = ApiKey.generate(RANDOM);
    execute(
        "INSERT INTO api_keys (id, app_id, name, hash, scopes, created_at) VALUES (?, ?, 'k', ?, ?, NOW(3))",
        key.id(),
        app,
        key.hash(),
        scopes);
    return key;
  }

  void revoke(String app, ApiKey key) {
    inDatabase(connection -> {
      connection.setAutoCommit(false);
      try (PreparedStatement update =
          connection.prepareStatement("UPDATE api_keys SET revoked_at = ? WHERE id = ?")) {
        update.setTimestamp(1, Timestamp.from(Clock.systemUTC().instant()));
        update.setString(2, key.id());
        update.executeUpdate();
      }
      ChangeFeed.record(
          connection, Clock.systemUTC(), Change.Kind.API_KEY, new AppId(app), key.id());
      connection.commit();
    });
  }

  interface Work {
    void run(java.sql.Connection connection) throws SQLException;
  }

  void inDatabase(Work work) {
    try (java.sql.Connection connection = connection()) {
      work.run(connection);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /// A new connection to the dispatcher's database.
  java.sql.Connection connection() throws SQLException {
    return DriverManager.getConnection(
        services.mysql().jdbcUrl(), services.mysql().user(), services.mysql().password());
  }

  void execute(String sql, Object... parameters) {
    inDatabase(connection -> {
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        for (int i = 0; i < parameters.length; i++) {
          statement.setObject(i + 1, parameters[i]);
        }
        statement.executeUpdate();
      }
    });
  }

  /// The first column.
  List<String> texts(String sql, Object... parameters) {
    List<String> texts = new ArrayList<>();
    inDatabase(connection -> {
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        for (int i = 0; i < parameters.length; i++) {
          statement.setObject(i + 1, parameters[i]);
        }
        ResultSet rows = statement.executeQuery();
        while (rows.next()) {
          texts.add(rows.getString(1));
        }
      }
    });
    return texts;
  }

  /// Whether a transaction waits for a row that another one has locked.
  boolean transactionWaits() {
    boolean[] waits = new boolean[1];
    inDatabase(connection -> {
      try (PreparedStatement status =
          connection.prepareStatement("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")) {
        ResultSet row = status.executeQuery();
        waits[0] = row.next() && row.getLong("Value") > 0;
      }
    });
    return waits[0];
  }

  /// Empties a queue and returns the items of its batches.
  List<JsonNode> drain(String queue) {
    ConnectionFactory factory = new ConnectionFactory();
    List<JsonNode> items = new ArrayList<>();
    try {
      factory.setUri(services.amqp());
      try (Connection connection = factory.newConnection();
          Channel channel = connection.createChannel()) {
        GetResponse got = channel.basicGet(queue, true);
        while (got != null) {
          WireForm.mapper().readTree(got.getBody()).forEach(items::add);
          got = channel.basicGet(queue, true);
        }
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return items;
  }

  /// @param headers name, value, name, value …
  Answer call(String method, String path, String body, String... headers) {
    Answer answer = call(method, path, HttpRequest.BodyPublishers.ofString(body), headers);
    // With 207, parts of the body were refused.
    if (answer.status() < 207 && !body.isEmpty()) {
      ApiDescription.checkAccepted(method, path, body);
    }
    return answer;
  }

  Answer call(String method, String path, HttpRequest.BodyPublisher body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(60))
            .method(method, body);
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      Answer answer = new Answer(http.send(request.build(), HttpResponse.BodyHandlers.ofString()));
      ApiDescription.check(method, path, answer.http());
      return answer;
    } catch (IOException e) {
      throw new IllegalStateException(method + " " + path + ": " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  record Answer(HttpResponse<String> http) {
    int status() {
      return http.statusCode();
    }

    JsonNode json() {
      return WireForm.mapper().readTree(http.body());
    }

    String header(String name) {
      return http.headers().firstValue(name).orElse("");
    }

    @Override
    public String toString() {
      return status() + " " + http.headers().map() + " " + http.body();
    }
  }

  /// An app with its key.
  record Tenant(RunningDispatcher dispatcher, String app, ApiKey key) {
    Answer call(String method, String path, String body, String... more) {
      List<String> headers =
          new ArrayList<>(List.of("Authorization", "Bearer " + key.text().reveal()));
      if (!body.isEmpty() && !List.of(more).contains("Content-Type")) {
        headers.addAll(List.of("Content-Type", "application/json"));
      }
      headers.addAll(List.of(more));
      return dispatcher.call(
          method, "/v1/apps/" + app + path, body, headers.toArray(String[]::new));
    }

    Answer get(String path) {
      return call("GET", path, "");
    }

    Answer post(String path, String body, String... more) {
      return call("POST", path, body, more);
    }

    Answer put(String path, String body) {
      return call("PUT", path, body);
    }

    /// Registers a device with these channels.
    void device(String id, String channels) {
      Answer answer =
          put("/devices/" + id, "{\"platform\":\"android\",\"channels\":" + channels + "}");
      if (answer.status() != 201) {
        throw new AssertionError(answer.toString());
      }
    }

    /// Registers a device, perhaps again. Returns when its password expires, in seconds of the
    /// epoch.
    long passwordEnds(String id) {
      Answer answer =
          put("/devices/" + id, "{\"platform\":\"android\",\"channels\":{\"mqtt\":true}}");
      if (answer.status() != 200 && answer.status() != 201) {
        throw new AssertionError(answer.toString());
      }
      return Long.parseLong(answer.json().at("/mqtt/password").stringValue().split("\\.")[1]);
    }
  }
}
