package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.CommandType;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Signals;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import io.pushplanet.dispatcher.message.AcceptedMessages;
import io.pushplanet.quickstart.services.Service;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.ThrowingSupplier;

/// The answers while a server is away are true.
class OutageIT {
  private static final String HELLO =
      "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}";
  private static final Duration SOON = Duration.ofSeconds(60);

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @BeforeEach
  void warm() {
    shop.device("d1", "{\"mqtt\":true,\"fcm\":{\"token\":\"tok\"}}");
    Eventually.within(
        SOON,
        () -> {
          dispatcher.sql.reset();
          assertThat(shop.post("/messages", HELLO).status()).isEqualTo(202);
          assertThat(dispatcher.sql.statements()).isEmpty();
        });
  }

  @AfterEach
  void everythingBack() {
    for (Service service : Service.values()) {
      if (!dispatcher.services.isRunning(service)) {
        dispatcher.services.restart(service);
      }
    }
    Eventually.within(Duration.ofSeconds(60), () -> assertThat(dispatcher.health()).isEqualTo(200));
  }

  @Test
  void without_the_broker_nothing_is_promised() {
    dispatcher.services.kill9(Service.AMQP);

    Eventually.within(SOON, () -> assertThat(dispatcher.readiness()).isEqualTo(503));
    for (int i = 0; i < 20; i++) {
      Answer answer = shop.post("/messages", HELLO, "Idempotency-Key", "k" + i);
      assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
      assertThat(answer.json().get("code").stringValue()).isEqualTo("broker_unavailable");
      assertThat(answer.header("Retry-After")).isEqualTo("1");
    }
    dispatcher.services.restart(Service.AMQP);
    Eventually.within(
        SOON,
        () ->
            assertThat(shop.post("/messages", HELLO, "Idempotency-Key", "k0").status())
                .isEqualTo(202));
  }

  @Test
  void a_broker_that_takes_nothing_is_reported() {
    assumeTrue(dispatcher.services.isRabbitMq(), "the embedded broker blocks nobody");
    dispatcher.services.rabbitmqctl("set_vm_memory_high_watermark", "0");
    try {
      // The broker raises its alarm a moment after the command.
      Eventually.within(
          SOON, () -> assertThat(shop.post("/messages", HELLO).status()).isEqualTo(503));
      for (int i = 0; i < 3; i++) {
        Answer answer = shop.post("/messages", HELLO);
        assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
        assertThat(answer.json().get("code").stringValue()).isEqualTo("broker_unavailable");
        assertThat(answer.json().get("detail").stringValue())
            .contains("takes no messages just now");
        assertThat(answer.header("Retry-After")).isEqualTo("1");
      }
    } finally {
      dispatcher.services.rabbitmqctl("set_vm_memory_high_watermark", "0.4");
    }

    Eventually.within(
        SOON, () -> assertThat(shop.post("/messages", HELLO).status()).isEqualTo(202));
  }

  @Test
  void without_redis_sending_goes_on_and_idempotency_is_refused() {
    dispatcher.services.kill9(Service.REDIS);

    Eventually.within(SOON, () -> assertThat(dispatcher.health()).isEqualTo(503));
    assertThat(dispatcher.readiness()).isEqualTo(200);
    assertThat(shop.post("/messages", HELLO).status()).isEqualTo(202);
    Answer answer = shop.post("/messages", HELLO, "Idempotency-Key", "k");
    assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
    assertThat(answer.json().get("code").stringValue()).isEqualTo("redis_unavailable");
    assertThat(answer.header("Retry-After")).isNotEmpty();
    assertThat(shop.put("/devices/d1/session", "{\"app_version\":\"9\"}").status()).isEqualTo(204);
    assertThat(shop.get("/devices/d1").json().get("app_version").stringValue()).isEqualTo("9");
  }

  /// Another dispatcher may have accepted it, and the statistics may not have written its row.
  @Test
  void without_redis_a_new_message_without_a_row_is_not_called_unknown() {
    String mine = shop.post("/messages", HELLO).json().get("id").stringValue();
    String anothers = new MessageIds(Clock.systemUTC(), new Random(7)).next().value();
    assertThat(shop.get("/messages/" + anothers).status()).isEqualTo(404);
    dispatcher.services.kill9(Service.REDIS);

    for (Answer answer :
        List.of(
            shop.get("/messages/" + anothers),
            shop.get("/messages/" + anothers + "/deliveries"),
            shop.post("/messages/" + anothers + ":cancel", ""))) {
      assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
      assertThat(answer.json().get("code").stringValue()).isEqualTo("redis_unavailable");
      assertThat(answer.header("Retry-After")).isNotEmpty();
    }
    assertThat(shop.get("/messages/" + mine).status()).isEqualTo(200);
    assertThat(shop.get("/messages/0192e0f0-0000-7000-8000-000000000001").status()).isEqualTo(404);
  }

  @Test
  void a_deletion_without_redis_denies_passwords_once_redis_is_back() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("gone"));
    dispatcher.services.kill9(Service.REDIS);
    long before = shop.passwordEnds("gone");

    assertThat(shop.call("DELETE", "/devices/gone", "").status()).isEqualTo(204);
    long after = shop.passwordEnds("gone");
    dispatcher.services.restart(Service.REDIS);

    Eventually.within(
        SOON, () -> assertThat(dispatcher.deniedUntil(device)).isBetween(before, after - 1));
  }

  @Test
  void denials_that_redis_lost_are_told_again() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("gone"));
    shop.passwordEnds("gone");
    assertThat(shop.call("DELETE", "/devices/gone", "").status()).isEqualTo(204);
    long denied = dispatcher.deniedUntil(device);
    assertThat(denied).isPositive();
    Eventually.within(SOON, () -> assertThat(denied(" AND told IS NULL")).isEmpty());

    redis().flushall();
    Eventually.within(SOON, () -> assertThat(dispatcher.deniedUntil(device)).isEqualTo(denied));
    Eventually.within(SOON, () -> assertThat(denied(" AND told IS NULL")).isEmpty());

    // As with `appendfsync everysec`, only the last writes are lost.
    redis().del(RunningDispatcher.denied(device));
    dispatcher.services.kill9(Service.REDIS);
    dispatcher.services.restart(Service.REDIS);
    Eventually.within(SOON, () -> assertThat(dispatcher.deniedUntil(device)).isEqualTo(denied));
  }

  @Test
  void another_dispatcher_tells_redis_the_denials_of_a_killed_one() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("gone"));
    dispatcher.execute(
        "INSERT INTO denied_devices (app_id, device_id, ends) VALUES (?, 'gone', '2199-01-01 00:00:00')",
        shop.app());

    Eventually.within(
        SOON,
        () ->
            assertThat(dispatcher.deniedUntil(device))
                .isEqualTo(Instant.parse("2199-01-01T00:00:00Z").getEpochSecond()));
  }

  @Test
  void denials_of_passwords_that_have_ended_are_forgotten() {
    dispatcher.execute(
        "INSERT INTO denied_devices (app_id, device_id, ends) VALUES"
            + " (?, 'long-gone', UTC_TIMESTAMP() - INTERVAL 61 MINUTE), (?, 'gone', UTC_TIMESTAMP() - INTERVAL 50 MINUTE)",
        shop.app(),
        shop.app());

    Eventually.within(SOON, () -> assertThat(denied("")).containsExactly("gone"));
  }

  /// Without INFO the dispatcher cannot know what this Redis was told.
  @Test
  void denials_that_redis_refuses_are_counted() {
    Counter failed =
        dispatcher
            .context
            .getBean(MeterRegistry.class)
            .get("pushplanet.denials.rounds.failed")
            .counter();
    double before = failed.count();

    redis().aclSetuser("default", AclSetuserArgs.Builder.removeCommand(CommandType.INFO));
    try {
      Eventually.within(SOON, () -> assertThat(failed.count()).isGreaterThanOrEqualTo(before + 3));
    } finally {
      redis().aclSetuser("default", AclSetuserArgs.Builder.addCommand(CommandType.INFO));
    }
  }

  /// Its node has not reported yet that the device left.
  @Test
  void a_session_of_a_former_user_ends_when_redis_is_back() {
    String user = "{\"platform\":\"android\",\"channels\":{\"mqtt\":true},\"user\":\"%s\"}";
    shop.put("/devices/shared", user.formatted("u1"));
    redis().set("mqtt-session:" + shop.app() + "/shared", "1,0,7");
    redis().set("session:" + shop.app() + "/shared", "7|node");
    // A Redis whose disk is slow writes this a second or two later.
    Eventually.within(
        SOON, () -> assertThat(redis().info("persistence")).contains("aof_buffer_length:0\r\n"));
    dispatcher.services.kill9(Service.REDIS);

    assertThat(shop.put("/devices/shared", user.formatted("u2")).status()).isEqualTo(200);
    dispatcher.services.restart(Service.REDIS);

    Eventually.within(
        SOON,
        () -> {
          assertThat(redis().exists("session:" + shop.app() + "/shared")).isOne();
          assertThat(redis().exists("mqtt-session:" + shop.app() + "/shared")).isZero();
        });
  }

  @Test
  void a_change_of_user_that_the_broker_refuses_leaves_the_devices_session_alone() {
    String user = "{\"platform\":\"android\",\"channels\":{\"mqtt\":true},\"user\":\"%s\"}";
    shop.put("/devices/shared", user.formatted("u1"));
    redis().set("mqtt-session:" + shop.app() + "/shared", "1,0,7");
    dispatcher.execute(
        "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at, user_id)"
            + " VALUES (?, 'shared', 's', '0192e0f0-0000-7000-8000-000000000001', '{}', NOW(3), NOW(3), 'u1')",
        shop.app());
    dispatcher.services.kill9(Service.AMQP);
    Eventually.within(SOON, () -> assertThat(dispatcher.readiness()).isEqualTo(503));

    assertThat(shop.put("/devices/shared", user.formatted("u2")).status()).isEqualTo(503);

    assertThat(shop.get("/devices/shared").json().at("/user").stringValue()).isEqualTo("u1");
    assertThat(redis().exists("mqtt-session:" + shop.app() + "/shared")).isOne();
  }

  private List<String> denied(String such) {
    return dispatcher.texts(
        "SELECT device_id FROM denied_devices WHERE app_id = ?" + such, shop.app());
  }

  private RedisCommands<String, String> redis() {
    return dispatcher.context.getBean(RedisLink.class).connection().sync();
  }

  /// Like a server whose host has vanished: nothing closes the connection, and nothing answers.
  @Test
  void a_redis_that_has_fallen_silent_is_left_and_found_again() throws Exception {
    RedisLink redis = dispatcher.context.getBean(RedisLink.class);
    long process = dispatcher.services.process(Service.REDIS).pid();
    Signals.stop(process);
    try {
      Eventually.within(
          SOON,
          () -> {
            assertThat(shop.post("/messages", HELLO).status()).isEqualTo(202);
            assertThat(redis.connected()).isFalse();
          });
    } finally {
      Signals.resume(process);
    }

    Eventually.within(
        SOON,
        () -> {
          String answer = redis.ask(RedisAsyncCommands::ping);
          assertThat(answer).isEqualTo("PONG");
        });
  }

  @Test
  void entries_that_wait_for_a_hanging_redis_have_a_limit_in_bytes() throws Exception {
    RedisLink redis = dispatcher.context.getBean(RedisLink.class);
    AcceptedMessages accepted = dispatcher.context.getBean(AcceptedMessages.class);
    MessageIds ids = new MessageIds(Clock.systemUTC(), new Random(7));
    byte[] large = "x".repeat(100_000).getBytes(StandardCharsets.US_ASCII);
    List<MessageId> many = Stream.generate(ids::next).limit(1_000).toList();
    long process = dispatcher.services.process(Service.REDIS).pid();

    Signals.stop(process);
    try {
      many.forEach(id -> accepted.remember(id, large));
    } finally {
      Signals.resume(process);
    }

    // Sorts after all others.
    Eventually.within(
        SOON,
        () -> {
          MessageId last = ids.next();
          accepted.remember(last, new byte[] {'x'});
          Eventually.within(Duration.ofSeconds(2), () -> assertThat(isKept(redis, last)).isTrue());
        });
    Eventually.within(
        SOON,
        () ->
            assertThat(many.stream().filter(id -> isKept(redis, id)).count() * large.length)
                .isLessThan(20_000_000));
  }

  private static boolean isKept(RedisLink redis, MessageId id) {
    String hash = "accepted-news:" + id.time().toEpochMilli() % 3_600_000 / 100;
    return redis.ask(commands -> commands.hexists(hash, id.value()));
  }

  @Test
  void without_mysql_known_keys_and_routes_still_send() {
    dispatcher.services.kill9(Service.MYSQL);

    Eventually.within(SOON, () -> assertThat(dispatcher.health()).isEqualTo(503));
    assertThat(dispatcher.readiness()).isEqualTo(200);
    assertThat(shop.post("/messages", HELLO).status()).isEqualTo(202);
    assertThat(shop.put("/devices/d1/session", "{}").status()).isEqualTo(204);
    Answer answer =
        shop.post("/messages", "{\"audience\":{\"device\":\"d2\"},\"content\":{\"title\":\"a\"}}");
    assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
    assertThat(answer.json().get("code").stringValue()).isEqualTo("database_unavailable");
    assertThat(answer.header("Retry-After")).isNotEmpty();
    dispatcher.drain("push.fanout.high");
    Answer toAll =
        shop.post("/messages", "{\"audience\":{\"all\":true},\"content\":{\"title\":\"a\"}}");
    assertThat(toAll.status()).as(toAll.toString()).isEqualTo(202);
    assertThat(toAll.json().get("recipients").toString())
        .isEqualTo("{\"estimate\":0,\"counted\":false}");
    // Otherwise the worker would take its chunks for small messages, which expire sooner.
    assertThat(dispatcher.drain("push.fanout.high"))
        .singleElement()
        .satisfies(
            order -> assertThat(order.at("/push/audience").intValue()).isEqualTo(Push.UNCOUNTED));
  }

  /// Like a server whose host has vanished. A connection that was just used is taken without a
  /// test, and the driver would wait half a minute for an answer on it.
  @Test
  void a_database_that_hangs_is_away_before_callers_leave() throws Exception {
    Tenant stranger = dispatcher.tenant();
    long process = dispatcher.services.process(Service.MYSQL).pid();

    shop.device("new", "{\"mqtt\":true}");
    Signals.stop(process);
    try {
      isAway(patiently(() -> shop.post("/messages", HELLO.replace("d1", "new"))));
      isAway(patiently(() -> stranger.post("/messages", HELLO)));
      assertThat(shop.post("/messages", HELLO).status()).isEqualTo(202);
    } finally {
      Signals.resume(process);
    }

    Eventually.within(
        SOON,
        () ->
            assertThat(shop.post("/messages", HELLO.replace("d1", "new")).status()).isEqualTo(202));
  }

  private static Answer patiently(ThrowingSupplier<Answer> request) {
    return assertTimeoutPreemptively(Duration.ofSeconds(15), request);
  }

  @Test
  void session_updates_are_written_in_order_when_mysql_is_back() {
    RedisLink redis = dispatcher.context.getBean(RedisLink.class);
    dispatcher.services.kill9(Service.MYSQL);

    Eventually.within(
        SOON,
        () -> {
          told("1");
          assertThat(claims(redis)).isNotEmpty();
        });
    Eventually.within(SOON, () -> told("2"));
    Set<String> writers = new HashSet<>();
    Eventually.within(
        SOON,
        () -> {
          Optional.ofNullable(redis.ask(commands -> commands.get("sessions:lock")))
              .ifPresent(writers::add);
          assertThat(writers).hasSizeGreaterThan(3);
        });

    // Two updates at once would be written in any order.
    assertThat(claims(redis)).hasSize(1);
    dispatcher.services.restart(Service.MYSQL);
    Eventually.within(
        SOON,
        () -> {
          assertThat(claims(redis)).isEmpty();
          Long pending = redis.ask(commands -> commands.exists("sessions:pending"));
          assertThat(pending).isZero();
          Answer device = shop.get("/devices/d1");
          assertThat(device.status()).as(device.toString()).isEqualTo(200);
          assertThat(device.json().get("app_version").stringValue()).isEqualTo("2");
        });
  }

  private void told(String version) {
    assertThat(shop.put("/devices/d1/session", "{\"app_version\":\"" + version + "\"}").status())
        .isEqualTo(204);
  }

  private static Set<String> claims(RedisLink redis) {
    return redis.ask(commands -> commands.smembers("sessions:claims"));
  }

  @Test
  void a_connection_lost_within_a_transaction_gets_a_503()
      throws SQLException, ExecutionException, InterruptedException {
    try (Connection other = dispatcher.connection();
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      other.setAutoCommit(false);
      try (var lock =
          other.prepareStatement(
              "SELECT * FROM devices WHERE app_id = ? AND device_id = 'd1' FOR UPDATE")) {
        lock.setString(1, shop.app());
        lock.executeQuery();
      }
      Future<Answer> answer =
          executor.submit(() -> shop.call("PATCH", "/devices/d1", "{\"tags\":[\"a\"]}"));

      Eventually.within(
          SOON,
          () ->
              dispatcher.inDatabase(connection -> {
                try (var waiting =
                        connection.prepareStatement(
                            "SELECT id FROM information_schema.processlist"
                                + " WHERE info LIKE '%app_version%FOR UPDATE%'"
                                + " AND info NOT LIKE '%processlist%' AND id <> CONNECTION_ID()");
                    var found = waiting.executeQuery()) {
                  assertThat(found.next()).isTrue();
                  try (var kill = connection.createStatement()) {
                    kill.execute("KILL " + found.getLong(1));
                  }
                }
              }));

      assertThat(answer.get().status()).as(answer.get().toString()).isEqualTo(503);
      assertThat(answer.get().json().get("code").stringValue()).isEqualTo("database_unavailable");
      other.rollback();
    }
  }

  @Test
  void connections_to_a_database_that_became_read_only_are_given_up() {
    // Tried more than once, because a pool that is still filling may give the refused request a
    // connection that is not among these.
    Eventually.within(
        SOON,
        () -> {
          Set<Long> before = connections();
          assertThat(connections()).isEqualTo(before);

          isAway(whileRefusing(1290));

          Eventually.within(
              Duration.ofSeconds(5), () -> assertThat(connections().containsAll(before)).isFalse());
        });
    assertThat(shop.put("/devices/d1", "{\"platform\":\"ios\"}").status()).isEqualTo(200);
  }

  @Test
  void a_database_whose_disk_is_full_is_away() {
    isAway(whileRefusing(1114));
  }

  private static void isAway(Answer answer) {
    assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
    assertThat(answer.json().get("code").stringValue()).isEqualTo("database_unavailable");
    assertThat(answer.header("Retry-After")).isNotEmpty();
  }

  /// The answer to a registration while the database refuses it with this error number.
  private Answer whileRefusing(int error) {
    dispatcher.execute(
        "CREATE TRIGGER refusing BEFORE UPDATE ON devices FOR EACH ROW IF NEW.app_id = '"
            + shop.app()
            + "' THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = "
            + error
            + "; END IF");
    try {
      return shop.put("/devices/d1", "{\"platform\":\"ios\"}");
    } finally {
      dispatcher.execute("DROP TRIGGER refusing");
    }
  }

  private Set<Long> connections() {
    Set<Long> ids = new HashSet<>();
    dispatcher.inDatabase(connection -> {
      try (var select =
              connection.prepareStatement(
                  "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()");
          var found = select.executeQuery()) {
        while (found.next()) {
          ids.add(found.getLong(1));
        }
      }
    });
    return ids;
  }
}
