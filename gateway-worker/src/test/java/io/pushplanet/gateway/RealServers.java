package io.pushplanet.gateway;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.quickstart.services.LocalServices;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/// Clients of this test JVM's real MariaDB, Redis and broker. The lanes are empty at the start.
public final class RealServers implements AutoCloseable {
  private final LocalServices services = LocalServices.forTests();
  private final HikariDataSource database = new HikariDataSource();
  private final ConnectionFactory connections = new ConnectionFactory();
  private final RedisClient redis = RedisClient.create(services.redis().toString());
  private final RedisLink known = RedisLink.open(redis);
  private final SessionDirectory sessions = new SessionDirectory(known, Clock.systemUTC());
  private final LanePublisher lanes;

  public RealServers() throws Exception {
    database.setJdbcUrl(services.mysql().jdbcUrl());
    database.setUsername(services.mysql().user());
    database.setPassword(services.mysql().password());
    database.setMaximumPoolSize(8);
    database.addDataSourceProperty("rewriteBatchedStatements", "true");
    database.addDataSourceProperty("connectionTimeZone", "UTC");
    database.addDataSourceProperty("forceConnectionTimeZoneToSession", "true");
    connections.setUri(services.amqp());
    connections.setAutomaticRecoveryEnabled(false);
    lanes =
        new LanePublisher(
            connections,
            "test",
            LanePublisher.Settings.DEFAULT,
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry());
    Eventually.within(
        Duration.ofSeconds(30),
        () -> {
          if (!lanes.connected()) {
            throw new AssertionError("the lane is not connected");
          }
        });
    try (Connection connection = connections.newConnection();
        Channel channel = connection.createChannel()) {
      for (String queue : Topology.queues()) {
        channel.queuePurge(queue);
      }
    }
  }

  /// For the initializer of a field, which may not throw checked exceptions.
  public static RealServers start() {
    try {
      return new RealServers();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  public LocalServices services() {
    return services;
  }

  public DataSource database() {
    return database;
  }

  public JdbcTemplate sql() {
    return new JdbcTemplate(database);
  }

  public ConnectionFactory connections() {
    return connections;
  }

  public SessionDirectory sessions() {
    return sessions;
  }

  /// Connects the device as far as Redis knows.
  public void connect(String app, String device, NodeId node) {
    register(app, device);
    var key = SessionDirectory.key(new DeviceKey(new AppId(app), new DeviceId(device)));
    known.connection().sync().set(key, System.currentTimeMillis() + "|" + node.value());
  }

  public LanePublisher lanes() {
    return lanes;
  }

  /// Takes everything out of a queue.
  public <T> List<T> drain(String queue, Class<T> type) throws Exception {
    List<T> items = new ArrayList<>();
    try (Connection connection = connections.newConnection();
        Channel channel = connection.createChannel()) {
      GetResponse message = channel.basicGet(queue, true);
      while (message != null) {
        items.addAll(WireForm.readBatch(message.getBody(), type));
        message = channel.basicGet(queue, true);
      }
    }
    return items;
  }

  @Override
  public void close() {
    lanes.close();
    redis.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    database.close();
  }

  /// Cancels the message as its caller would.
  public void cancel(Push push) {
    sql()
        .update(
            "INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at, cancelled_at)"
                + " VALUES (?, ?, ?, '', '', '', NOW(), NOW(), NOW())",
            push.id().day(),
            push.id().value(),
            push.app().value());
  }

  /// Registers the message's devices with the tokens that it names.
  public Push registered(Push push) {
    for (Recipient recipient : push.recipients()) {
      for (var channel : io.pushplanet.common.delivery.Channel.values()) {
        recipient
            .token(channel)
            .ifPresent(token ->
                register(
                    push.app().value(),
                    recipient.device().value(),
                    channel.word(),
                    channel == io.pushplanet.common.delivery.Channel.WEBPUSH
                        ? "subscription"
                        : "token",
                    token.text(),
                    token.registeredAt()));
      }
      sql()
          .update(
              "UPDATE devices SET mqtt = ? WHERE app_id = ? AND device_id = ?",
              recipient.mqtt(),
              push.app().value(),
              recipient.device().value());
    }
    return push;
  }

  /// Registers a device over MQTT, unless it is registered.
  public void register(String app, String device) {
    register(app, device, true);
  }

  private void register(String app, String device, boolean mqtt) {
    sql()
        .update(
            "INSERT IGNORE INTO devices (app_id, device_id, platform, mqtt, created_at, updated_at, seen_at)"
                + " VALUES (?, ?, 'ios', ?, '2026-01-01', NOW(3), NOW(3))",
            app,
            device,
            mqtt);
  }

  /// Registers a device with one token, or with one more.
  public void register(
      String app, String device, String channel, String kind, String token, Instant at) {
    register(app, device, false);
    sql()
        .update(
            "REPLACE INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at)"
                + " VALUES (?, ?, ?, ?, ?, 'production', ?)",
            app,
            device,
            channel,
            token,
            kind,
            Timestamp.from(at));
  }
}
