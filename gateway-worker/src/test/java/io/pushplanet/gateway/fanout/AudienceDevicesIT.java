package io.pushplanet.gateway.fanout;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.RealServers;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Audiences made of others, compared with plain set algebra. `-Dseed=N` repeats a run.
class AudienceDevicesIT {
  private static final AppId APP = new AppId("audience-it");
  private static final int DEVICES = 600;
  private static final int PAGE = 70;

  private static RealServers servers;
  private static AudienceDevices devices;

  @BeforeAll
  static void register_devices() throws Exception {
    servers = new RealServers();
    devices = new AudienceDevices(servers.sql());
    for (String table : List.of("devices", "device_topics", "device_tags")) {
      servers.sql().update("DELETE FROM " + table + " WHERE app_id = ?", APP.value());
    }
    var rows = new ArrayList<Object[]>();
    var topics = new ArrayList<Object[]>();
    var tags = new ArrayList<Object[]>();
    for (int number = 0; number < DEVICES; number++) {
      String user = number % 7 == 0 ? null : "user" + number % 11;
      rows.add(new Object[] {APP.value(), id(number).value(), user});
      if (number % 3 == 0) {
        topics.add(new Object[] {APP.value(), "news", id(number).value()});
      }
      if (number % 5 == 0) {
        tags.add(new Object[] {APP.value(), "vip", id(number).value()});
      }
      if (number % 50 == 1) {
        tags.add(new Object[] {APP.value(), "rare", id(number).value()});
      }
    }
    servers
        .sql()
        .batchUpdate(
            "INSERT INTO devices (app_id, device_id, platform, mqtt, user_id, created_at, updated_at, seen_at) VALUES (?, ?, 'iot', TRUE, ?, NOW(), NOW(), NOW())",
            rows);
    servers
        .sql()
        .batchUpdate(
            "INSERT INTO device_topics (app_id, topic, device_id) VALUES (?, ?, ?)", topics);
    servers
        .sql()
        .batchUpdate("INSERT INTO device_tags (app_id, tag, device_id) VALUES (?, ?, ?)", tags);
    servers.sql().execute("ANALYZE TABLE devices, device_topics, device_tags");
  }

  @AfterAll
  static void close() {
    servers.close();
  }

  /// An audience and its meaning.
  ///
  /// @param withNobody the devices that it names while nobody is logged in
  private record Meaning(Audience audience, IntPredicate names, IntPredicate withNobody) {
    Meaning(Audience audience, IntPredicate names) {
      this(audience, names, names);
    }
  }

  @Test
  void a_token_for_calls_gets_only_messages_that_name_its_device() {
    AppId app = new AppId("calls-it");
    for (String table : List.of("devices", "channel_tokens")) {
      servers.sql().update("DELETE FROM " + table + " WHERE app_id = ?", app.value());
    }
    for (String kind : List.of("token", "voip", "of_a_newer_version")) {
      servers
          .sql()
          .update(
              "INSERT INTO devices (app_id, device_id, platform, mqtt, created_at, updated_at, seen_at) VALUES (?, ?, 'ios', FALSE, NOW(), NOW(), NOW())",
              app.value(),
              kind);
      servers
          .sql()
          .update(
              "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at) VALUES (?, ?, 'apns', 'ab', ?, 'production', NOW())",
              app.value(),
              kind,
              kind.substring(0, Math.min(16, kind.length())));
    }
    DeviceId calls = new DeviceId("voip");

    List<Recipient> everyone = devices.after(app, new Audience.All(), null, PAGE).recipients();
    List<Recipient> named =
        devices.after(app, new Audience.Devices(List.of(calls)), null, PAGE).recipients();

    assertThat(everyone)
        .extracting(recipient -> recipient.device().value())
        .containsExactlyInAnyOrder("token", "of_a_newer_version");
    assertThat(everyone)
        .filteredOn(recipient -> recipient.apns() == null)
        .extracting(recipient -> recipient.device().value())
        .containsExactly("of_a_newer_version");
    assertThat(named)
        .singleElement()
        .satisfies(recipient ->
            assertThat(recipient.apns())
                .isNotNull()
                .satisfies(token -> assertThat(token.type()).isEqualTo(ApnsPushType.VOIP)));
  }

  @Test
  void and_or_and_not_name_the_devices_that_set_algebra_names() {
    long seed = Long.getLong("seed", 1);
    System.out.println("audience seed=" + seed);
    var random = new SplittableRandom(seed);
    for (int round = 0; round < 60; round++) {
      var meaning = random(random, 3);

      assertThat(all(meaning.audience()))
          .as("seed %d, round %d: %s", seed, round, meaning.audience())
          .containsExactlyElementsOf(
              IntStream.range(0, DEVICES)
                  .filter(meaning.names())
                  .mapToObj(number ->
                      id(number)
                          + (meaning.withNobody().test(number) || number % 7 == 0
                              ? ""
                              : " of user" + number % 11))
                  .toList());
    }
  }

  @Test
  void the_platform_behind_fcm_is_known() {
    AppId app = new AppId("behind-fcm");
    for (String platform : List.of("android", "ios", "web")) {
      servers
          .sql()
          .update(
              "INSERT INTO devices (app_id, device_id, platform, mqtt, created_at, updated_at, seen_at)"
                  + " VALUES (?, ?, ?, FALSE, NOW(), NOW(), NOW())",
              app.value(),
              platform,
              platform);
      servers
          .sql()
          .update(
              "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at)"
                  + " VALUES (?, ?, 'fcm', ?, 'token', '', NOW())",
              app.value(),
              platform,
              "token-of-" + platform);
    }

    assertThat(
            new AudienceDevices(servers.sql())
                .after(app, new Audience.All(), null, PAGE)
                .recipients())
        .extracting(Recipient::behindFcm)
        .containsExactly(null, Platform.IOS, Platform.WEB);
  }

  @Test
  void every_page_is_a_range_of_a_key() {
    var random = new SplittableRandom(1);
    for (int round = 0; round < 40; round++) {
      var audience = random(random, 3).audience();
      var query = AudienceQuery.page(APP, audience, id(300).value(), PAGE);

      assertThat(
              servers
                  .sql()
                  .queryForList(
                      "EXPLAIN FORMAT=TRADITIONAL " + query.sql(), query.arguments().toArray()))
          .filteredOn(step ->
              step.get("table") != null
                  && !step.get("table").toString().startsWith("<")
                  && step.get("type") != null)
          .as("%s%n%s", audience, query.sql())
          .allSatisfy(step ->
              assertThat(step.get("type")).isIn("range", "ref", "ref_or_null", "eq_ref", "const"));
    }
  }

  /// With the user of each device that is wanted only because of that user.
  private static List<String> all(Audience audience) {
    var found = new ArrayList<String>();
    DeviceId after = null;
    do {
      var page = devices.after(APP, audience, after, PAGE);
      page.recipients().stream()
          .map(it -> it.device() + (it.user() == null ? "" : " of " + it.user()))
          .forEach(found::add);
      after = page.last();
    } while (after != null);
    return found;
  }

  private static Meaning random(RandomGenerator random, int depth) {
    return switch (random.nextInt(depth == 0 ? 6 : 9)) {
      case 0 -> new Meaning(new Audience.Topic("news"), number -> number % 3 == 0);
      case 1 -> new Meaning(new Audience.Tag("vip"), number -> number % 5 == 0);
      case 2 -> new Meaning(new Audience.Tag("rare"), number -> number % 50 == 1);
      case 3 -> {
        int user = random.nextInt(11);
        yield new Meaning(
            new Audience.Users(List.of("user" + user, "nobody")),
            number -> number % 7 != 0 && number % 11 == user,
            _ -> false);
      }
      case 4 -> {
        int chosen = random.nextInt(DEVICES);
        yield new Meaning(
            new Audience.Devices(List.of(id(chosen), new DeviceId("gone"))),
            number -> number == chosen);
      }
      case 5 -> new Meaning(new Audience.All(), _ -> true);
      case 6 -> {
        var part = random(random, depth - 1);
        yield new Meaning(
            new Audience.Not(part.audience()), part.names().negate(), part.withNobody().negate());
      }
      case 7 -> {
        var parts = some(random, depth);
        yield new Meaning(
            new Audience.And(parts.stream().map(Meaning::audience).toList()),
            number -> parts.stream().allMatch(part -> part.names().test(number)),
            number -> parts.stream().allMatch(part -> part.withNobody().test(number)));
      }
      default -> {
        var parts = some(random, depth);
        yield new Meaning(
            new Audience.Or(parts.stream().map(Meaning::audience).toList()),
            number -> parts.stream().anyMatch(part -> part.names().test(number)),
            number -> parts.stream().anyMatch(part -> part.withNobody().test(number)));
      }
    };
  }

  private static List<Meaning> some(RandomGenerator random, int depth) {
    return IntStream.rangeClosed(0, random.nextInt(3))
        .mapToObj(_ -> random(random, depth - 1))
        .toList();
  }

  private static DeviceId id(int number) {
    return new DeviceId("d%05d".formatted(number));
  }
}
