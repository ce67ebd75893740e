package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.LiveActivity.BroadcastChannel;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Fate.Action;
import io.pushplanet.simulators.script.ScriptLine;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import tools.jackson.databind.json.JsonMapper;

/// Broadcast channels at a strict simulator of APNs: asked for in the database, made, sent to,
/// deleted.
class ApnsChannelsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Clock CLOCK = Clock.systemUTC();
  private static final Simulated APNS = Simulated.APNS;

  // Statuses of Apple's answers about a channel.
  private static final int MADE = 201;
  private static final int FOUND = 200;
  private static final int DELETED = 204;
  private static final int REFUSED = 400;

  @TempDir static Path state;
  private static ProviderPlatform platform;
  private static JdbcTemplate database;

  @BeforeAll
  static void start() {
    platform =
        ProviderPlatform.start(
            state, "--gateway.roles=deliver", "--gateway.apns.channels-period=50ms");
    database = new JdbcTemplate(platform.context.getBean(DataSource.class));
    ApnsKey.Issued key =
        ApnsKey.issue("TEAMCHANNL", "KEYCHANNEL", List.of(ProviderPlatform.BUNDLE));
    for (String app : List.of("match", "match-busy", "match-full", "match-lost")) {
      platform.uploadKey(app, key, "production");
    }
  }

  @AfterAll
  static void stop() {
    platform.close();
  }

  @AfterEach
  void forgetFaults() {
    platform.simulators.script().clear();
  }

  /// As the dispatcher does it.
  private static String asked(String app, String keeps) {
    String channel = "channel-" + UUID.randomUUID();
    Timestamp now = Timestamp.from(CLOCK.instant());
    database.update(
        "INSERT INTO live_activity_channels (app_id, channel_id, environment, keeps, state,"
            + " created_at, due_at) VALUES (?, ?, 'production', ?, 'pending', ?, ?)",
        app,
        channel,
        keeps,
        now,
        now);
    return channel;
  }

  private static void deleted(String channel) {
    database.update(
        "UPDATE live_activity_channels SET state = 'deleting', due_at = COALESCE(due_at, ?) WHERE"
            + " channel_id = ?",
        Timestamp.from(CLOCK.instant()),
        channel);
  }

  private static Map<String, Object> row(String channel) {
    return database.queryForMap(
        "SELECT state, reason, apns_id, due_at FROM live_activity_channels WHERE channel_id = ?",
        channel);
  }

  private static void bringForward(String channel) {
    database.update(
        "UPDATE live_activity_channels SET due_at = ? WHERE channel_id = ?",
        Timestamp.from(CLOCK.instant()),
        channel);
  }

  private static String awaitReady(String channel) {
    Eventually.within(PATIENCE, () -> assertThat(row(channel)).containsEntry("state", "ready"));
    return String.valueOf(row(channel).get("apns_id"));
  }

  private static void awaitFailed(String channel, String reason) {
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(row(channel))
                .containsEntry("state", "failed")
                .containsEntry("reason", reason)
                .containsEntry("due_at", null));
  }

  private static void awaitForgotten(String channel) {
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(
                    database.queryForObject(
                        "SELECT COUNT(*) FROM live_activity_channels WHERE channel_id = ?",
                        Integer.class,
                        channel))
                .isZero());
  }

  private static DeliveryOutcome send(String app, String channel, BroadcastChannel apple) {
    return send(platform.provider(Channel.APNS), app, channel, apple);
  }

  private static DeliveryOutcome send(
      Provider apns, String app, String channel, BroadcastChannel apple) {
    LiveActivity update =
        new LiveActivity(
            LiveActivity.Event.UPDATE,
            null,
            JsonMapper.shared().createObjectNode().put("minute", 90),
            null,
            null,
            null,
            null,
            null);
    Push plain = aPush(CLOCK).from(app).toApns(channel, apple.id()).build();
    Push push = PushBuilder.withOverrides(plain, Overrides.NONE.with(update).over(apple));
    return apns.send(push, push.recipients().getFirst());
  }

  @Test
  void a_channel_is_made_carries_an_update_and_is_deleted_at_apple() {
    String channel = asked("match", "newest");
    String apple = awaitReady(channel);

    DeliveryOutcome outcome = send("match", channel, new BroadcastChannel(apple, true));

    assertThat(outcome).isInstanceOf(Accepted.class);
    LedgerEntry entry = platform.simulators.ledger().entries(apple).getLast();
    assertThat(entry.delivered()).isTrue();
    assertThat(entry.headers())
        .containsEntry("apns-channel-id", apple)
        .containsEntry("apns-push-type", "liveactivity")
        .doesNotContainKey("apns-topic");
    assertThat(Long.parseLong(entry.headers().get("apns-expiration")))
        .isGreaterThan(CLOCK.instant().getEpochSecond());
    assertThat(entry.payload().at("/aps/content-state/minute").asInt()).isEqualTo(90);
    assertThat(((Accepted) outcome).providerId()).isEqualTo(entry.id());

    deleted(channel);
    awaitForgotten(channel);
    assertThat(send("match", channel, new BroadcastChannel(apple, true)))
        .isEqualTo(new Rejected(400, "ChannelNotRegistered"));
  }

  @Test
  void a_channel_that_apple_no_longer_has_is_failed_and_not_ready_for_ever() {
    String channel = asked("match", "newest");
    String apple = awaitReady(channel);
    String other = asked("match", "newest");
    awaitReady(other);
    notRegistered(2);

    send("match", channel, new BroadcastChannel(apple, true));

    awaitFailed(channel, "ChannelNotRegistered");
    assertThat(row(channel)).containsEntry("apns_id", apple);
    assertThat(row(other)).containsEntry("state", "ready");
    deleted(channel);
    awaitForgotten(channel);
  }

  @Test
  void a_channel_is_missed_on_the_second_connection_too() {
    String channel = asked("match", "newest");
    String apple = awaitReady(channel);
    platform.simulators.script().add(ScriptLine.next(APNS, 1, Fate.answer(400, "IdleTimeout")));
    notRegistered(2);

    assertThat(send("match", channel, new BroadcastChannel(apple, true)))
        .isInstanceOf(DeliveryOutcome.Remedied.class);

    awaitFailed(channel, "ChannelNotRegistered");
    deleted(channel);
    awaitForgotten(channel);
  }

  /// Nothing would bring the channel back.
  @Test
  void a_channel_that_apple_has_stays_ready_despite_its_answer_to_a_message() {
    String channel = asked("match", "newest");
    String apple = awaitReady(channel);
    notRegistered(1);

    send("match", channel, new BroadcastChannel(apple, true));

    awaitAnswers(apple, MADE, REFUSED, FOUND);
    assertThat(row(channel)).containsEntry("state", "ready");
    assertThat(send("match", channel, new BroadcastChannel(apple, true)))
        .isInstanceOf(Accepted.class);
    deleted(channel);
    awaitForgotten(channel);
  }

  /// Its key may be back in a minute, and phones still follow the channel.
  @Test
  void a_channel_that_is_another_bundles_stays_ready() {
    String channel = asked("match", "newest");
    String apple = awaitReady(channel);
    String next = asked("match", "newest");
    String appleNext = awaitReady(next);
    isOf("com.example.other", channel);
    notRegistered(3);

    send("match", channel, new BroadcastChannel(apple, true));
    send("match", next, new BroadcastChannel(appleNext, true));

    awaitFailed(next, "ChannelNotRegistered");
    assertThat(row(channel)).containsEntry("state", "ready");
    isOf(ProviderPlatform.BUNDLE, channel);
    deleted(channel);
    awaitForgotten(channel);
  }

  /// The app's other channels are doubted again with their next messages.
  @Test
  void an_app_whose_channels_are_all_in_doubt_leaves_room_for_anothers() {
    String channel = asked("match-lost", "newest");
    awaitReady(channel);
    String apple = "bm90IHRoZXJlIGF0IGFsbA==";
    database.update(
        "UPDATE live_activity_channels SET apns_id = ? WHERE channel_id = ?", apple, channel);
    try (ConfigurableApplicationContext other =
        ProviderPlatform.worker(
            platform.simulators, "--gateway.roles=deliver", "--gateway.apns.channels-period=5s")) {
      Provider apns = ProviderPlatform.provider(other, Channel.APNS);
      for (int i = 0; i < 8; i++) {
        assertThat(send(apns, "match", "nobodys-" + i, new BroadcastChannel(apple, true)))
            .isEqualTo(new Rejected(400, "ChannelNotRegistered"));
      }

      send(apns, "match-lost", channel, new BroadcastChannel(apple, true));

      awaitFailed(channel, "ChannelNotRegistered");
    }
    deleted(channel);
    awaitForgotten(channel);
  }

  @Test
  void a_channel_that_is_another_bundles_is_deleted_once_its_own_key_is_back() {
    String channel = asked("match", "newest");
    String apple = awaitReady(channel);
    isOf("com.example.other", channel);

    deleted(channel);

    Eventually.within(
        PATIENCE,
        () ->
            assertThat(row(channel))
                .containsEntry("state", "deleting")
                .containsEntry("reason", "another_bundle")
                .containsEntry("apns_id", apple));
    awaitAnswers(apple, MADE);
    isOf(ProviderPlatform.BUNDLE, channel);
    bringForward(channel);
    awaitForgotten(channel);
    awaitAnswers(apple, MADE, DELETED);
  }

  private static void isOf(String bundle, String channel) {
    database.update(
        "UPDATE live_activity_channels SET bundle_id = ? WHERE channel_id = ?", bundle, channel);
  }

  private static void notRegistered(int times) {
    platform
        .simulators
        .script()
        .add(ScriptLine.next(APNS, times, Fate.answer(400, "ChannelNotRegistered")));
  }

  private static void awaitAnswers(String apple, Integer... statuses) {
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(platform.simulators.ledger().entries(apple))
                .extracting(LedgerEntry::status)
                .containsExactly(statuses));
  }

  @Test
  void a_channel_that_keeps_nothing_gets_no_expiry() {
    String channel = asked("match", "none");
    String apple = awaitReady(channel);

    assertThat(send("match", channel, new BroadcastChannel(apple, false)))
        .isInstanceOf(Accepted.class);

    assertThat(platform.simulators.ledger().entries(apple).getLast().headers())
        .containsEntry("apns-expiration", "0");
  }

  @Test
  void an_answer_about_a_channel_never_pauses_the_credential() {
    platform
        .simulators
        .script()
        .add(ScriptLine.next(APNS, 1, Fate.answer(403, "FeatureNotEnabled")));
    String channel = asked("match", "newest");
    awaitFailed(channel, "FeatureNotEnabled");

    platform
        .simulators
        .script()
        .add(ScriptLine.next(APNS, 1, Fate.answer(403, "FeatureNotEnabled")));
    String other = asked("match", "newest");
    awaitFailed(other, "FeatureNotEnabled");

    String apple = awaitReady(asked("match", "newest"));
    assertThat(send("match", channel, new BroadcastChannel(apple, true)))
        .isInstanceOf(Accepted.class);
  }

  @Test
  void a_busy_apple_is_asked_again_after_the_time_it_says() {
    platform
        .simulators
        .script()
        .add(
            ScriptLine.next(
                APNS, 1, Fate.answer(429, "TooManyRequests").retryAfter(Duration.ofHours(1))));

    String channel = asked("match-busy", "newest");

    Eventually.within(
        PATIENCE, () -> assertThat(row(channel)).containsEntry("reason", "TooManyRequests"));
    assertThat(
            database.queryForObject(
                "SELECT due_at FROM live_activity_channels WHERE channel_id = ?",
                Timestamp.class,
                channel))
        .isAfter(Timestamp.from(CLOCK.instant().plus(Duration.ofMinutes(45))));
    bringForward(channel);
    awaitReady(channel);
  }

  @Test
  void one_channel_too_many_fails_with_the_word_of_apple_and_can_be_deleted() {
    platform
        .simulators
        .script()
        .add(ScriptLine.next(APNS, 1, Fate.answer(400, "CannotCreateChannelConfig")));

    String channel = asked("match-full", "newest");

    awaitFailed(channel, "CannotCreateChannelConfig");
    deleted(channel);
    awaitForgotten(channel);
  }

  @Test
  void an_answer_that_is_lost_says_so_until_another_comes() {
    platform.simulators.script().add(ScriptLine.next(APNS, 1, Fate.of(Action.DROP)));

    String channel = asked("match-lost", "newest");

    Eventually.within(
        PATIENCE,
        () ->
            assertThat(row(channel))
                .containsEntry("state", "pending")
                .containsEntry("reason", "no_answer"));
    bringForward(channel);
    awaitReady(channel);
    assertThat(row(channel)).containsEntry("reason", null);
  }

  @Test
  void a_channel_needs_a_key() {
    platform.uploadCertificate("match-certified");

    awaitFailed(asked("match-certified", "newest"), "live_activity_needs_a_p8_key");
    awaitFailed(asked("match-nobody", "newest"), "no_credential");
  }

  @Test
  void many_channels_are_made_once_each() {
    List<String> channels = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      channels.add(asked("match", "none"));
    }

    List<String> apple = channels.stream().map(ApnsChannelsIT::awaitReady).toList();

    assertThat(apple).doesNotHaveDuplicates();
  }
}
