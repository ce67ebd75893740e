package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.GreenMailUtil;
import com.icegreen.greenmail.util.ServerSetup;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialLookup.Found;
import io.pushplanet.gateway.credential.CredentialLookup.Missing;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.apns.ApnsToken;
import io.pushplanet.simulators.ledger.LedgerEntry;
import jakarta.mail.MessagingException;
import jakarta.mail.internet.MimeMessage;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A credential's life at strict providers: active, refused, paused, repaired, replaced, ended;
/// `CredentialProbesIT` is before it.
class CredentialLifecycleIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Clock CLOCK = Clock.systemUTC();

  /// The receiver refuses the first alert about this app.
  private static final String UNHEARD = "unheard";

  private static final String SECRET = Base64.getEncoder().encodeToString(new byte[32]);

  @TempDir static Path state;
  private static ProviderPlatform platform;
  private static CredentialRows rows;
  private static HttpServer receiver;
  private static final GreenMail MAILS = new GreenMail(ServerSetup.SMTP.dynamicPort());
  private static final Queue<Posted> POSTED = new ConcurrentLinkedQueue<>();

  private record Posted(String id, String timestamp, String signature, String body) {
    boolean isAbout(String app) {
      return body.contains("\"app\":\"" + app + "\"");
    }
  }

  @BeforeAll
  static void start() throws Exception {
    receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.createContext(
        "/alerts",
        exchange -> {
          Posted posted =
              new Posted(
                  exchange.getRequestHeaders().getFirst("webhook-id"),
                  exchange.getRequestHeaders().getFirst("webhook-timestamp"),
                  exchange.getRequestHeaders().getFirst("webhook-signature"),
                  new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
          boolean refuses = posted.isAbout(UNHEARD) && posted(UNHEARD).isEmpty();
          POSTED.add(posted);
          exchange.sendResponseHeaders(refuses ? 503 : 204, -1);
          exchange.close();
        });
    receiver.start();
    MAILS.start();
    platform =
        ProviderPlatform.start(
            state,
            true,
            "--gateway.roles=deliver,later",
            "--gateway.credentials.period=100ms",
            "--gateway.credentials.expiry-period=300ms",
            "--gateway.alerts.period=100ms",
            "--gateway.alerts.webhook-url=http://127.0.0.1:"
                + receiver.getAddress().getPort()
                + "/alerts",
            "--gateway.alerts.webhook-secret=" + SECRET,
            "--gateway.alerts.mail.host=127.0.0.1",
            "--gateway.alerts.mail.port=" + MAILS.getSmtp().getPort(),
            "--gateway.alerts.mail.security=none",
            "--gateway.alerts.mail.from=alerts@example.com",
            "--gateway.alerts.mail.to=ops@example.com");
    rows = new CredentialRows(platform);
  }

  @AfterAll
  static void stop() {
    platform.close();
    receiver.stop(0);
    MAILS.stop();
  }

  @Test
  void operators_hear_of_a_refused_credential() {
    Instant refusedAt = CLOCK.instant();

    refused("paused", CredentialRows.key("LIFE000005", "REVOKED001"));

    assertThat(
            rows.sql()
                .queryForObject(
                    "SELECT pause_reason FROM credentials WHERE app_id = 'paused' AND state = 'active'",
                    String.class))
        .isEqualTo("InvalidProviderToken");
    assertThat(
            rows.sql()
                .queryForObject(
                    "SELECT COUNT(*) FROM audit WHERE action = 'credential_paused' AND subject = 'paused/apns/production'",
                    Long.class))
        .isEqualTo(1);
    Eventually.within(
        PATIENCE,
        () -> {
          assertThat(
                  platform
                      .context
                      .getBean(MeterRegistry.class)
                      .find("pushplanet.credential.paused")
                      .tag("app", "paused")
                      .gauge())
              .isNotNull();
          assertThat(posted("paused"))
              .anySatisfy(posted -> {
                assertThat(posted.body()).contains("credential_paused", "InvalidProviderToken");
                assertThat(isSigned(posted)).isTrue();
              });
        });
    assertThat(Duration.between(refusedAt, CLOCK.instant())).isLessThan(Duration.ofMinutes(1));
  }

  @Test
  void an_alert_that_the_receiver_refuses_is_posted_again() {
    refused(UNHEARD, CredentialRows.key("LIFE000012", "REVOKED002"));

    Eventually.within(PATIENCE, () -> assertThat(posted(UNHEARD)).hasSize(2));
    Posted first = posted(UNHEARD).getFirst();
    Posted second = posted(UNHEARD).getLast();
    assertThat(second.id()).isEqualTo(first.id());
    assertThat(second.body()).isEqualTo(first.body());
    assertThat(isSigned(second)).isTrue();
  }

  @Test
  void nothing_more_is_sent_with_a_paused_credential_and_no_other_app_is_held_up() {
    platform.uploadKey("neighbour", CredentialRows.key("LIFE000006", "NEIGHBOUR1"), "production");
    refused("resting", CredentialRows.key("LIFE000013", "REVOKED003"));
    long seen = requests("resting");

    assertThat(send("resting")).isEqualTo(new CredentialFault(0, "credential_paused"));
    accepted("neighbour");

    assertThat(requests("resting")).isEqualTo(seen);
  }

  @Test
  void messages_of_a_paused_credential_go_when_it_is_accepted_again() {
    ApnsKey.Issued issued = CredentialRows.key("LIFE000014", "REVOKED004");
    refused("repaired", issued);
    Push waiting = aPush(CLOCK).from("repaired").toApns("d9", "99".repeat(32)).build();
    keep(waiting, Channel.APNS, "credential_paused");

    platform.simulators.apnsDirectory().register(issued.key());
    // Written as the dashboard's button writes it.
    rows.sql()
        .update(
            "UPDATE credentials SET probe_at = ? WHERE app_id = 'repaired' AND state = 'active'",
            Timestamp.from(CLOCK.instant()));

    Eventually.within(PATIENCE, () -> accepted("repaired"));
    Eventually.within(
        PATIENCE, () -> assertThat(dueAt("repaired")).isBefore(CLOCK.instant().plusSeconds(1)));
  }

  /// Uploads a key that Apple accepts at first. Returns when Apple has refused it and it is paused.
  private static void refused(String app, ApnsKey.Issued issued) {
    platform.uploadKey(app, issued, "production");
    accepted(app);
    platform.simulators.apnsDirectory().revoke(issued.key().keyId());
    Eventually.within(
        PATIENCE,
        () -> assertThat(send(app)).isEqualTo(new CredentialFault(0, "credential_paused")));
  }

  /// The alerts about an app that the receiver got.
  private static List<Posted> posted(String app) {
    return POSTED.stream().filter(posted -> posted.isAbout(app)).toList();
  }

  @Test
  void messages_of_a_paused_credential_go_when_another_one_is_activated() {
    platform.uploadUnknownKey(
        "replaced", CredentialRows.key("LIFE000010", "NEVERKNOWN"), "production");
    Eventually.within(
        PATIENCE,
        () -> assertThat(send("replaced")).isEqualTo(new CredentialFault(0, "credential_paused")));
    Push waiting = aPush(CLOCK).from("replaced").toApns("d9", "98".repeat(32)).build();
    keep(waiting, Channel.APNS, "credential_paused");

    platform.uploadKey("replaced", CredentialRows.key("LIFE000010", "KNOWNKEY01"), "production");

    Eventually.within(PATIENCE, () -> accepted("replaced"));
    Eventually.within(
        PATIENCE, () -> assertThat(dueAt("replaced")).isBefore(CLOCK.instant().plusSeconds(1)));
  }

  /// A worker that had not read the change yet put it there.
  @Test
  void a_message_that_is_kept_just_after_the_change_goes_too() {
    platform.uploadUnknownKey(
        "latecomer", CredentialRows.key("LIFE000015", "NEVERHEARD"), "production");
    Eventually.within(
        PATIENCE,
        () -> assertThat(send("latecomer")).isEqualTo(new CredentialFault(0, "credential_paused")));
    keep(
        aPush(CLOCK).from("latecomer").toApns("d8", "96".repeat(32)).build(),
        Channel.APNS,
        "credential_paused");
    platform.uploadKey("latecomer", CredentialRows.key("LIFE000015", "KNOWNKEY02"), "production");
    Eventually.within(PATIENCE, () -> assertThat(waiting("latecomer")).isZero());

    keep(
        aPush(CLOCK).from("latecomer").toApns("d9", "97".repeat(32)).build(),
        Channel.APNS,
        "credential_paused");

    Eventually.within(PATIENCE, () -> assertThat(waiting("latecomer")).isZero());
  }

  /// Messages that do not come back within a minute.
  private static long waiting(String app) {
    return rows.sql()
        .queryForObject(
            "SELECT COUNT(*) FROM later WHERE app_id = ? AND due_at > ?",
            Long.class,
            app,
            Timestamp.from(CLOCK.instant().plusSeconds(60)));
  }

  @Test
  void messages_refused_by_nearly_every_browser_go_when_the_key_is_accepted_again() {
    platform.uploadVapidKey("browsers");
    keep(aPush(CLOCK).from("browsers").toWebPush("d1", "{}").build(), Channel.WEBPUSH, "http_403");

    // Paused as a worker pauses it. A push service cannot be asked, so messages try it at once.
    rows.sql()
        .update(
            "UPDATE credentials SET paused_at = ?, pause_reason = 'http_403 for nearly every device', probe_at = ?"
                + " WHERE app_id = 'browsers' AND state = 'active'",
            Timestamp.from(CLOCK.instant()),
            Timestamp.from(CLOCK.instant()));

    Eventually.within(
        PATIENCE, () -> assertThat(dueAt("browsers")).isBefore(CLOCK.instant().plusSeconds(1)));
  }

  private static void keep(Push waiting, Channel channel, String reason) {
    new LaterStore(platform.context.getBean(DataSource.class))
        .keep(
            List.of(
                new Later(
                    CLOCK.instant().plus(Duration.ofMinutes(15)),
                    Topology.lane(channel, waiting.delivery().priority()),
                    reason,
                    waiting)));
  }

  private static Instant dueAt(String app) {
    return rows.sql()
        .queryForObject("SELECT due_at FROM later WHERE app_id = ?", Timestamp.class, app)
        .toInstant();
  }

  @Test
  void a_credential_that_a_failover_of_mysql_has_lost_is_not_used_any_longer() {
    CredentialCache credentials = platform.context.getBean(CredentialCache.class);
    AppId app = new AppId("lost");
    platform.uploadKey("lost", CredentialRows.key("LIFE000016", "LOSTKEY001"), "production");
    assertThat(credentials.apns(app, "production")).isInstanceOf(Found.class);
    platform.uploadKey("lost", CredentialRows.key("LIFE000016", "LOSTKEY002"), "production");
    // The change has been read.
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(credentials.apns(app, "production"))
                .isInstanceOfSatisfying(
                    Found.class,
                    found ->
                        assertThat(found.credential())
                            .hasFieldOrPropertyWithValue("keyId", "LOSTKEY002")));

    rows.sql().update("DELETE FROM credentials WHERE app_id = 'lost'");
    rows.sql().update("DELETE FROM changes");

    Eventually.within(
        PATIENCE,
        () -> assertThat(credentials.apns(app, "production")).isInstanceOf(Missing.class));
  }

  @Test
  void many_foreign_tokens_pause_the_lane_and_few_do_not() {
    ApnsKey.Issued issued = CredentialRows.key("LIFE000007", "FOREIGN001");
    platform.uploadKey("foreign", issued, "production");
    accepted("foreign");

    for (int i = 0; i < 40; i++) {
      assertThat(send("foreign", "%064x".formatted(0xf0000 + i)).reason())
          .isEqualTo("BadDeviceToken");
    }
    accepted("foreign");
    List<DeliveryOutcome> answers = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      answers.add(send("foreign", "%064x".formatted(0xf1000 + i)));
    }

    assertThat(send("foreign")).isEqualTo(new CredentialFault(0, "credential_paused"));
    assertThat(answers.stream().filter(TokenGone.class::isInstance).count())
        .as("refused before the pause")
        .isBetween(9L, 399L);
    assertThat(answers)
        .as("the answer that brought the pause is not held against its token")
        .containsOnlyOnce(
            new CredentialFault(
                400, "BadDeviceToken", "credential paused", null, Evidence.DOUBTED));
  }

  @Test
  void while_a_new_credential_is_refused_the_former_one_stands_in() {
    ApnsKey.Issued former = CredentialRows.key("LIFE000008", "FORMERKEY1");
    ApnsKey.Issued broken = CredentialRows.key("LIFE000008", "BROKENKEY1");
    platform.uploadKey("overlap", former, "production");
    accepted("overlap");
    rows.replace(
        "overlap",
        "apns",
        "p8",
        CredentialRows.p8Detail(broken),
        CredentialRows.bytes(broken.p8()),
        Duration.ofHours(1));

    // The first messages with the new key wait for another try.
    Eventually.within(
        PATIENCE,
        () -> {
          send("overlap");
          assertThat(
                  rows.sql()
                      .queryForObject(
                          "SELECT COUNT(*) FROM credentials WHERE app_id = 'overlap' AND state = 'active' AND paused_at IS NOT NULL",
                          Long.class))
              .isEqualTo(1);
        });
    Eventually.within(PATIENCE, () -> accepted("overlap"));

    // When the overlap ends, the former credential no longer stands in.
    rows.sql()
        .update(
            "UPDATE credentials SET overlap_until = ? WHERE app_id = 'overlap' AND state = 'overlapping'",
            Timestamp.from(CLOCK.instant()));
    Eventually.within(
        PATIENCE,
        () -> assertThat(send("overlap")).isEqualTo(new CredentialFault(0, "credential_paused")));
  }

  @Test
  void from_a_certificate_to_a_key_under_load_nothing_fails() throws Exception {
    ApnsKey.Issued next = CredentialRows.key("LIFE000009", "ROTATION01");
    platform.simulators.apnsDirectory().register(next.key());
    rows.insert(
        "rotation", "apns", "production", "p12", "active", CredentialRows.P12_DETAIL, rows.p12());
    for (int i = 0; i < 100; i++) {
      token("%064x".formatted(0xa0000 + i));
    }
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(send("rotation", "%064x".formatted(0xa0000))).isInstanceOf(Accepted.class));
    int messages = Integer.getInteger("rotation.messages", 3_000);
    long everyNanos = 1_000_000_000L / Integer.getInteger("rotation.per.second", 1_000);

    List<Future<DeliveryOutcome>> sent = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      long startNanos = System.nanoTime();
      for (int i = 0; i < messages; i++) {
        if (i == messages / 2) {
          rows.replace(
              "rotation",
              "apns",
              "p8",
              CredentialRows.p8Detail(next),
              CredentialRows.bytes(next.p8()),
              Duration.ofHours(1));
        }
        String token = "%064x".formatted(0xa0000 + i % 100);
        sent.add(threads.submit(() -> send("rotation", token)));
        LockSupport.parkNanos(startNanos + (i + 1) * everyNanos - System.nanoTime());
      }
    }

    for (Future<DeliveryOutcome> one : sent) {
      assertThat(one.get()).isInstanceOf(Accepted.class);
    }
    assertThat(platform.simulators.ledger().entries("%064x".formatted(0xa0000 + 99)))
        .hasSize(messages / 100)
        .allMatch(LedgerEntry::delivered);
    accepted("rotation");
  }

  @Test
  void fleet_36673_node_apn_292_an_end_that_nears_is_told_once_at_each_step() {
    rows.insert(
        "expires", "apns", "production", "p12", "active", CredentialRows.P12_DETAIL, rows.p12());
    ends(Duration.ofDays(40));
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(
                    platform
                        .context
                        .getBean(MeterRegistry.class)
                        .get("pushplanet.credential.days.left")
                        .tag("app", "expires")
                        .gauge()
                        .value())
                .isBetween(39.0, 40.0));
    assertThat(expiryAlerts()).isZero();

    int told = 0;
    for (Duration left :
        List.of(
            Duration.ofDays(29),
            Duration.ofDays(13),
            Duration.ofDays(6),
            Duration.ofHours(20),
            Duration.ofHours(-1))) {
      ends(left);
      int expected = ++told;
      Eventually.within(PATIENCE, () -> assertThat(expiryAlerts()).isEqualTo(expected));
    }
    assertThat(
            rows.sql()
                .queryForList(
                    "SELECT text FROM alerts WHERE app_id = 'expires' AND kind = 'credential_expires' ORDER BY id",
                    String.class))
        .satisfiesExactly(
            text -> assertThat(text).contains("within 30 days"),
            text -> assertThat(text).contains("within 14 days"),
            text -> assertThat(text).contains("within 7 days"),
            text -> assertThat(text).contains("within a day"),
            text -> assertThat(text).contains("has ended"));
    Eventually.within(
        PATIENCE,
        () ->
            assertThat(
                    MAILS
                        .findReceivedMessages(_ -> true, CredentialLifecycleIT::isOfExpires)
                        .map(GreenMailUtil::getBody))
                .hasSize(6)
                .anyMatch(body -> body.contains("within 30 days"))
                .anyMatch(body -> body.contains("within a day")));
    Eventually.within(
        PATIENCE, () -> assertThat(posted("expires")).extracting(Posted::id).hasSize(6));
    assertThat(posted("expires"))
        .allMatch(CredentialLifecycleIT::isSigned)
        .extracting(Posted::body)
        .satisfiesOnlyOnce(body -> assertThat(body).contains("credential_paused"))
        .anyMatch(body -> body.contains("within 30 days"))
        .anyMatch(body -> body.contains("within 14 days"))
        .anyMatch(body -> body.contains("within 7 days"))
        .anyMatch(body -> body.contains("within a day"))
        .anyMatch(body -> body.contains("has ended"));
  }

  private static boolean isOfExpires(MimeMessage mail) {
    try {
      return mail.getSubject().contains("app expires");
    } catch (MessagingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long expiryAlerts() {
    return rows.sql()
        .queryForObject(
            "SELECT COUNT(*) FROM alerts WHERE app_id = 'expires' AND kind = 'credential_expires'",
            Long.class);
  }

  private static void ends(Duration left) {
    rows.sql()
        .update(
            "UPDATE credentials SET expires_at = ? WHERE app_id = 'expires'",
            Timestamp.from(CLOCK.instant().plus(left)));
  }

  private static String token(String token) {
    platform
        .simulators
        .apnsDirectory()
        .register(token, new ApnsToken("production", ProviderPlatform.BUNDLE, 0));
    return token;
  }

  private static String tokenOf(String app) {
    return token("%064x".formatted(0xb0000 + (long) app.hashCode() * 31));
  }

  private static long requests(String app) {
    return platform.simulators.ledger().entries(tokenOf(app)).size();
  }

  private static void accepted(String app) {
    assertThat(send(app)).isInstanceOf(Accepted.class);
  }

  private static DeliveryOutcome send(String app) {
    return send(app, tokenOf(app));
  }

  private static DeliveryOutcome send(String app, String token) {
    Push push = aPush(CLOCK).from(app).toApns("d1", token).build();
    return platform.provider(Channel.APNS).send(push, push.recipients().getFirst());
  }

  private static boolean isSigned(Posted posted) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(Base64.getDecoder().decode(SECRET), "HmacSHA256"));
      String signed = posted.id() + "." + posted.timestamp() + "." + posted.body();
      return posted
          .signature()
          .equals(
              "v1,"
                  + Base64.getEncoder().encodeToString(mac.doFinal(CredentialRows.bytes(signed))));
    } catch (java.security.GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
