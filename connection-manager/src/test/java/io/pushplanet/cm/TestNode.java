package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.DeviceList;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.quickstart.services.LocalServices;
import java.security.SecureRandom;
import java.sql.DriverManager;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/// A real node on real services, on free ports, in this JVM.
final class TestNode implements AutoCloseable {
  static final AppId APP = new AppId("shop");
  static final String GATEWAY_PASSWORD = "only-for-tests";
  private static final String MASTER_KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final MessageIds MESSAGES = new MessageIds(Clock.systemUTC(), new SecureRandom());

  private final LocalServices services = LocalServices.forTests();
  private final ConfigurableApplicationContext context;

  private TestNode(String... settings) {
    context =
        new SpringApplication(ConnectionManagerApplication.class)
            .run(arguments(services, settings).toArray(String[]::new));
  }

  static List<String> arguments(LocalServices services, String... settings) {
    var arguments = new ArrayList<String>();
    arguments.addAll(
        List.of(
            "--pushplanet.mysql.url=" + services.mysql().jdbcUrl(),
            "--pushplanet.mysql.user=" + services.mysql().user(),
            "--pushplanet.mysql.password=" + services.mysql().password(),
            "--pushplanet.redis.uri=" + services.redis(),
            "--pushplanet.amqp.uri=" + services.amqp(),
            "--pushplanet.master-key=" + MASTER_KEY,
            "--server.port=0",
            "--cm.mqtt-port=0",
            "--cm.tls-port=0",
            "--cm.gateway-port=0",
            "--cm.bind=127.0.0.1",
            "--cm.gateway-password=" + GATEWAY_PASSWORD,
            "--cm.directory.verify-every=500ms"));
    for (var setting : settings) {
      // Given twice, Spring would make a list of both.
      var name = setting.substring(0, setting.indexOf('=') + 1);
      arguments.removeIf(given -> given.startsWith(name));
      arguments.add(setting);
    }
    return arguments;
  }

  static TestNode start(String... settings) {
    return new TestNode(settings);
  }

  LocalServices services() {
    return services;
  }

  int port(String listener) {
    return context.getBean(Transport.class).port(listener);
  }

  String mqtt() {
    return "tcp://127.0.0.1:" + port("mqtt");
  }

  String gateway() {
    return "tcp://127.0.0.1:" + port("gateway");
  }

  int http() {
    return context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  static DeviceKey newDevice() {
    return new DeviceKey(
        APP, new DeviceId("d" + NUMBER.incrementAndGet() + "-" + System.nanoTime()));
  }

  /// An id that is newer than all before.
  static MessageId newMessage() {
    return MESSAGES.next();
  }

  static String credential(DeviceKey device) {
    return credential(device, Duration.ofHours(1));
  }

  static String credential(DeviceKey device, Duration validity) {
    return new DeviceCredential(MasterKey.parse(MASTER_KEY), Clock.systemUTC())
        .mint(device.app(), device.device(), validity);
  }

  /// @param ends the second of the epoch in which the credential ends
  static String credential(DeviceKey device, long ends) {
    return new DeviceCredential(MasterKey.parse(MASTER_KEY), Clock.systemUTC())
        .mint(device.app(), device.device(), ends);
  }

  void park(DeviceKey device, String slot, MessageId message, String payload, Duration ttl)
      throws Exception {
    try (var connection = database();
        var statement =
            connection.prepareStatement(
                "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at,"
                    + " expires_at) VALUES (?,?,?,?,?,?,?)")) {
      var now = Instant.now();
      statement.setString(1, device.app().value());
      statement.setString(2, device.device().value());
      statement.setString(3, slot);
      statement.setString(4, message.value());
      statement.setString(5, payload);
      statement.setObject(6, LocalDateTime.ofInstant(now, ZoneOffset.UTC));
      statement.setObject(7, LocalDateTime.ofInstant(now.plus(ttl), ZoneOffset.UTC));
      statement.executeUpdate();
    }
  }

  /// Parks a message for many devices as gateway-worker does.
  ///
  /// @return the list's number
  long parkForAll(
      List<DeviceKey> devices, String slot, MessageId message, String payload, Duration ttl)
      throws Exception {
    try (var connection = database()) {
      connection.setAutoCommit(false);
      execute(
          connection,
          "INSERT INTO broadcasts (app_id, message_id, slot, payload) VALUES (?,?,?,?)"
              + " ON DUPLICATE KEY UPDATE message_id=message_id",
          APP.value(),
          message.value(),
          slot,
          payload);
      execute(
          connection,
          "INSERT INTO broadcast_sequences (app_id, last) VALUES (?,1) ON DUPLICATE KEY UPDATE last=last+1",
          APP.value());
      var list = DeviceList.of(devices.stream().map(DeviceKey::device).toList());
      var now = Instant.now();
      execute(
          connection,
          "INSERT INTO broadcast_devices (app_id, seq, message_id, parked_at, expires_at, first_device,"
              + " last_device, devices) SELECT app_id, last, ?,?,?,?,?,? FROM broadcast_sequences"
              + " WHERE app_id=?",
          message.value(),
          LocalDateTime.ofInstant(now, ZoneOffset.UTC),
          LocalDateTime.ofInstant(now.plus(ttl), ZoneOffset.UTC),
          list.first().value(),
          list.last().value(),
          list.text(),
          APP.value());
      connection.commit();
    }
    try (var connection = database()) {
      return number(connection, "SELECT last FROM broadcast_sequences WHERE app_id=?", APP.value());
    }
  }

  void cancelBroadcast(MessageId message) throws Exception {
    try (var connection = database()) {
      execute(
          connection,
          "UPDATE broadcasts SET cancelled_at=NOW(3) WHERE message_id=?",
          message.value());
    }
  }

  /// The device's position in the lists of broadcasts.
  long position(DeviceKey device) throws Exception {
    try (var connection = database()) {
      return number(
          connection,
          "SELECT COALESCE(MAX(seq), 0) FROM broadcast_positions WHERE app_id=? AND device_id=?",
          device.app().value(),
          device.device().value());
    }
  }

  private static void execute(java.sql.Connection connection, String sql, Object... arguments)
      throws Exception {
    try (var statement = connection.prepareStatement(sql)) {
      for (int index = 0; index < arguments.length; index++) {
        statement.setObject(index + 1, arguments[index]);
      }
      statement.executeUpdate();
    }
  }

  private static long number(java.sql.Connection connection, String sql, String... arguments)
      throws Exception {
    try (var statement = connection.prepareStatement(sql)) {
      for (int index = 0; index < arguments.length; index++) {
        statement.setString(index + 1, arguments[index]);
      }
      try (var result = statement.executeQuery()) {
        result.next();
        return result.getLong(1);
      }
    }
  }

  int parked(DeviceKey device) throws Exception {
    try (var connection = database();
        var statement =
            connection.prepareStatement(
                "SELECT COUNT(*) FROM inbox WHERE app_id=? AND device_id=?")) {
      statement.setString(1, device.app().value());
      statement.setString(2, device.device().value());
      try (var result = statement.executeQuery()) {
        result.next();
        return result.getInt(1);
      }
    }
  }

  private java.sql.Connection database() throws Exception {
    return DriverManager.getConnection(
        services.mysql().jdbcUrl(), services.mysql().user(), services.mysql().password());
  }

  /// The device's uplinks among all events that are in the queue or arrive with less than a second
  /// in between, once the expected number has arrived.
  List<String> uplinksOf(DeviceKey device, int expected) throws Exception {
    var found = new ArrayList<String>();
    Eventually.within(
        Duration.ofSeconds(60),
        () -> {
          for (var event : events()) {
            if (event instanceof DeliveryEvent.Uplink uplink
                && uplink.device().equals(device.device())) {
              found.add(new Binary(uplink.payload()).utf8());
            }
          }
          assertThat(found).hasSizeGreaterThanOrEqualTo(expected);
        });
    return found;
  }

  List<DeliveryEvent> events() throws Exception {
    var factory = new ConnectionFactory();
    factory.setUri(services.amqp());
    var events = new ArrayList<DeliveryEvent>();
    try (Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      for (var got = channel.basicGet(Topology.EVENTS, true);
          got != null;
          got = channel.basicGet(Topology.EVENTS, true)) {
        events.addAll(WireForm.readBatch(got.getBody(), DeliveryEvent.class));
      }
    }
    return events;
  }

  @Override
  public void close() {
    context.close();
  }
}
