package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.ledger.LedgerEntry;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.json.JsonMapper;

/// Each push type with its topic, priorities, payload and size. Live Activities are in `ApnsIT` and
/// `ApnsChannelsIT`.
class ApnsPushTypesIT {
  private static final Clock CLOCK = Clock.systemUTC();
  private static @TempDir Path state;
  private static ProviderPlatform platform;
  private static ApnsKey.Issued key;

  @BeforeAll
  static void start() {
    platform = ProviderPlatform.start(state);
    key = ApnsKey.issue("HHHHHHHHHH", "KEY0000009", List.of(ProviderPlatform.BUNDLE));
    platform.uploadKey("shop", key, "production");
    platform.uploadCertificate("certified");
  }

  @AfterAll
  static void stop() {
    platform.close();
  }

  private static String token(ApnsPushType type) {
    return "%064x".formatted(type.ordinal() + 1);
  }

  private static Push push(String app, ApnsPushType type, Urgency urgency, Content content) {
    return push(app, type, urgency, Duration.ofHours(1), content);
  }

  private static Push push(
      String app, ApnsPushType type, Urgency urgency, Duration ttl, Content content) {
    return aPush(CLOCK)
        .from(app)
        .saying(content)
        .delivered(new DeliveryOptions(Route.AUTO, ttl, urgency, null, Duration.ofSeconds(5)))
        .toApns("d1", token(type), type)
        .build();
  }

  private static DeliveryOutcome send(Push push) {
    return send(platform.provider(Channel.APNS), push);
  }

  private static DeliveryOutcome send(Provider provider, Push push) {
    return provider.send(push, push.recipients().getFirst());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        // token's type | title | data | push type | topic's suffix | high, normal and low | payload
        "ALERT        | Shipped | k   | alert        | -                     | 10 5 1 | {'k':'v','id':'?','aps':{'alert':{'title':'Shipped'}}}",
        "ALERT        | -       | k   | background   | -                     | 5 5 5  | {'k':'v','id':'?','aps':{'content-available':1}}",
        "VOIP         | -       | k   | voip         | .voip                 | 10 5 1 | {'k':'v','id':'?','aps':{}}",
        "VOIP         | Shipped | k   | voip         | .voip                 | 10 5 1 | {'k':'v','id':'?','aps':{'alert':{'title':'Shipped'}}}",
        "COMPLICATION | -       | k   | complication | .complication         | 10 5 1 | {'k':'v','id':'?','aps':{}}",
        "FILEPROVIDER | -       | k   | fileprovider | .pushkit.fileprovider | 10 5 1 | {'k':'v','id':'?','aps':{}}",
        "LOCATION     | -       | k   | location     | .location-query       | 10 5 1 | {'k':'v','id':'?','aps':{}}",
        "PUSHTOTALK   | -       | k   | pushtotalk   | .voip-ptt             | 10 5 1 | {'k':'v','id':'?','aps':{}}",
        "MDM          | -       | mdm | mdm          | -                     | 10 5 1 | {'mdm':'v'}",
        "WIDGETS      | -       | k   | widgets      | .push-type.widgets    | 10 5 1 | {'k':'v','id':'?','aps':{'content-changed':true}}",
        "CONTROLS     | -       | k   | controls     | .push-type.controls   | 10 5 1 | {'k':'v','id':'?','aps':{'content-changed':true}}",
      })
  void each_push_type_has_its_topic_its_priority_and_its_payload(
      ApnsPushType type,
      String title,
      String data,
      String pushType,
      String suffix,
      String priorities,
      String payload) {
    for (Urgency urgency : Urgency.values()) {
      Push push = push("shop", type, urgency, new Content(title, null, Map.of(data, "v")));

      DeliveryOutcome outcome = send(push);

      assertThat(outcome).isInstanceOf(Accepted.class);
      LedgerEntry sent = platform.simulators.ledger().entries(token(type)).getLast();
      assertThat(sent.headers())
          .containsEntry("apns-push-type", pushType)
          .containsEntry("apns-topic", ProviderPlatform.BUNDLE + (suffix == null ? "" : suffix))
          .containsEntry("apns-priority", priorities.split(" ")[urgency.ordinal()]);
      assertThat(sent.payload())
          .isEqualTo(
              JsonMapper.shared()
                  .readTree(payload.replace('\'', '"').replace("?", push.id().value())));
    }
  }

  @ParameterizedTest
  @EnumSource(ApnsPushType.class)
  void a_payload_of_the_last_byte_is_taken_and_one_more_is_not_sent(ApnsPushType type) {
    int most = type == ApnsPushType.VOIP ? 5_120 : 4_096;
    send(push("shop", type, Urgency.HIGH, letters(1)));
    int around = bytes(platform.simulators.ledger().entries(token(type)).getLast()) - 1;

    DeliveryOutcome last = send(push("shop", type, Urgency.HIGH, letters(most - around)));
    int sent = platform.simulators.ledger().entries(token(type)).size();
    DeliveryOutcome over = send(push("shop", type, Urgency.HIGH, letters(most - around + 1)));

    assertThat(last).isInstanceOf(Accepted.class);
    assertThat(over).isEqualTo(new Rejected(0, "payload_too_large"));
    assertThat(platform.simulators.ledger().entries(token(type))).hasSize(sent);
  }

  private static Content letters(int count) {
    return new Content(null, null, Map.of(ApnsPushType.PUSH_MAGIC, "x".repeat(count)));
  }

  private static int bytes(LedgerEntry sent) {
    return JsonMapper.shared().writeValueAsBytes(sent.payload()).length;
  }

  @ParameterizedTest
  @EnumSource(ApnsPushType.class)
  void apple_keeps_it_until_the_message_ends_and_not_at_all_without_a_time_to_live(
      ApnsPushType type) {
    Push kept = push("shop", type, Urgency.HIGH, letters(1));
    Push now = push("shop", type, Urgency.HIGH, Duration.ZERO, letters(1));

    send(kept);
    send(now);

    assertThat(platform.simulators.ledger().entries(token(type)))
        .extracting(sent -> sent.headers().get("apns-expiration"))
        .endsWith(Long.toString(kept.expiresAt().getEpochSecond()), "0");
  }

  @ParameterizedTest
  @EnumSource(
      value = ApnsPushType.class,
      names = {"ALERT", "VOIP", "COMPLICATION", "MDM"})
  void a_certificate_sends_the_types_whose_topics_it_carries(ApnsPushType type) {
    assertThat(send(push("certified", type, Urgency.HIGH, letters(1))))
        .isInstanceOf(Accepted.class);
  }

  @ParameterizedTest
  @EnumSource(
      value = ApnsPushType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"ALERT", "VOIP", "COMPLICATION", "MDM", "LOCATION"})
  void a_type_whose_topic_a_certificate_lacks_fails_and_its_token_stays(ApnsPushType type) {
    assertThat(send(push("certified", type, Urgency.HIGH, letters(1))))
        .isEqualTo(new Rejected(400, "TopicDisallowed", null, Evidence.DOUBTED));
  }

  @Test
  void a_location_query_is_not_sent_with_a_certificate() {
    assertThat(send(push("certified", ApnsPushType.LOCATION, Urgency.HIGH, letters(1))))
        .isEqualTo(new Rejected(0, "location_needs_a_p8_key"));
    assertThat(platform.simulators.ledger().entries(token(ApnsPushType.LOCATION)))
        .noneMatch(sent -> sent.reason().equals("TopicDisallowed"));
  }

  /// Pushy of this version does not know these types.
  private static final Set<ApnsPushType> NEWER =
      Set.of(ApnsPushType.WIDGETS, ApnsPushType.CONTROLS);

  @Test
  void the_mock_server_of_pushy_accepts_each_type_that_it_knows() throws Exception {
    List<ApnsPushType> known =
        Arrays.stream(ApnsPushType.values()).filter(type -> !NEWER.contains(type)).toList();
    Map<String, Set<String>> tokens =
        known.stream()
            .filter(type -> type != ApnsPushType.MDM)
            .collect(
                toMap(type -> type.topic(ProviderPlatform.BUNDLE), type -> Set.of(token(type))));
    tokens.put(ProviderPlatform.BUNDLE, Set.of(token(ApnsPushType.ALERT), token(ApnsPushType.MDM)));
    try (PushyServer server =
            PushyServer.start(platform.simulators.authority(), key.key(), tokens);
        ConfigurableApplicationContext other =
            ProviderPlatform.worker(
                platform.simulators,
                "--gateway.apns.production-endpoint=" + ProviderPlatform.local(server.port))) {
      Provider provider = ProviderPlatform.provider(other, Channel.APNS);
      for (ApnsPushType type : known) {
        // Pushy 0.15.4 does not know Apple's priority 1.
        for (Urgency urgency : List.of(Urgency.HIGH, Urgency.NORMAL)) {
          assertThat(send(provider, push("shop", type, urgency, letters(1))))
              .as("%s %s", type, urgency)
              .isInstanceOf(Accepted.class);
        }
      }
    }
  }
}
