package io.pushplanet.dispatcher.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.route.DeviceRoute;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.problem.FieldError;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

class PayloadSizesTest {
  private static SendRequest read(int bytes, String route) {
    String body =
        "{\"audience\":{\"device\":\"d\"},\"content\":{\"body\":\"%s\"},\"delivery\":{\"route\":\"%s\"}}";
    SendRequest request =
        SendRequestReader.read(
            (ObjectNode) WireForm.mapper().readTree(body.formatted("x".repeat(bytes), route)));
    PayloadSizes.check(request, List.of(route(ApnsPushType.ALERT)));
    return request;
  }

  private static DeviceRoute route(ApnsPushType type) {
    ApnsToken token = new ApnsToken("ab", "production", Instant.EPOCH, type);
    return new DeviceRoute(new DeviceId("d"), Platform.IOS, false, token, null, null, null);
  }

  @Test
  void a_call_takes_five_kilobytes_where_each_device_takes_calls() {
    String body = "{\"audience\":{\"devices\":[\"d\",\"e\"]},\"content\":{\"body\":\"%s\"}}";
    SendRequest five =
        SendRequestReader.read(
            (ObjectNode) WireForm.mapper().readTree(body.formatted("x".repeat(4_900))));
    DeviceRoute call = route(ApnsPushType.VOIP);

    assertThatCode(() -> PayloadSizes.check(five, List.of(call, call))).doesNotThrowAnyException();
    assertThatThrownBy(() -> PayloadSizes.check(five, List.of(call, route(ApnsPushType.LOCATION))))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem -> assertThat(problem.code()).isEqualTo(ProblemCode.PAYLOAD_TOO_LARGE));
    assertThatThrownBy(() -> PayloadSizes.check(five, List.of()))
        .isInstanceOf(ProblemException.class);
  }

  @Test
  void the_last_byte_of_a_call_is_taken() {
    String body = "{\"audience\":{\"device\":\"d\"},\"content\":{\"data\":{\"x\":\"%s\"}}}";
    int around = "{\"x\":\"\",\"id\":\"00000000-0000-7000-8000-000000000000\",\"aps\":{}}".length();
    ObjectNode last =
        (ObjectNode) WireForm.mapper().readTree(body.formatted("x".repeat(5_120 - around)));
    ObjectNode over =
        (ObjectNode) WireForm.mapper().readTree(body.formatted("x".repeat(5_121 - around)));

    assertThatCode(() ->
            PayloadSizes.check(SendRequestReader.read(last), List.of(route(ApnsPushType.VOIP))))
        .doesNotThrowAnyException();
    assertThatThrownBy(() ->
            PayloadSizes.check(SendRequestReader.read(over), List.of(route(ApnsPushType.VOIP))))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem ->
                assertThat(problem.errors())
                    .singleElement()
                    .satisfies(error ->
                        assertThat(error.detail())
                            .isEqualTo(
                                "APNs takes 5120 bytes; this message needs 5121, which is 1 bytes too many")));
  }

  @ParameterizedTest
  @CsvSource({"fcm, 4096", "webpush, 3993", "hms, 4096"})
  void a_calls_overrides_for_other_providers_have_their_limits(String name, int most) {
    String body =
        "{\"audience\":{\"device\":\"d\"},\"content\":{\"body\":\"%s\"},\"overrides\":{\"%s\":{\"x\":\"%s\"}}}";
    int around = "{\"x\":\"\"}".length() - 1;
    ObjectNode last =
        (ObjectNode)
            WireForm.mapper()
                .readTree(body.formatted("x".repeat(4_900), name, "y".repeat(most - around)));
    ObjectNode over =
        (ObjectNode)
            WireForm.mapper()
                .readTree(body.formatted("x".repeat(4_900), name, "y".repeat(most - around + 1)));

    assertThatCode(() ->
            PayloadSizes.check(SendRequestReader.read(last), List.of(route(ApnsPushType.VOIP))))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> SendRequestReader.read(over))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem -> {
              assertThat(problem.code()).isEqualTo(ProblemCode.PAYLOAD_TOO_LARGE);
              assertThat(problem.errors())
                  .singleElement()
                  .returns("/overrides/" + name, FieldError::pointer)
                  .returns("too_large_for_" + name, FieldError::code);
            });
  }

  @Test
  void the_last_byte_that_fits_is_taken_and_the_next_refused_with_its_number() {
    int fixed = PayloadMeasure.fcm(read(1, "vendor")) - 1;
    int most = 4_096 - fixed;

    assertThatCode(() -> read(most, "vendor")).doesNotThrowAnyException();
    assertThatThrownBy(() -> read(most + 1, "vendor"))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem -> {
              assertThat(problem.code()).isEqualTo(ProblemCode.PAYLOAD_TOO_LARGE);
              assertThat(problem.errors().getFirst().detail())
                  .contains("FCM")
                  .endsWith("which is 1 bytes too many");
            });
  }

  @ParameterizedTest
  @CsvSource({
    "100, apns, /overrides/apns",
    "100, fcm, /overrides/fcm",
    "100, webpush, /overrides/webpush",
    "100, hms, /overrides/hms",
  })
  void an_error_points_at_the_overrides_when_the_content_alone_fits(
      int body, String name, String pointer) {
    assertThatThrownBy(() -> SendRequestReader.read(overriding(body, name, 4_096)))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem ->
                assertThat(problem.errors())
                    .singleElement()
                    .returns(pointer, FieldError::pointer)
                    .returns("too_large_for_" + name, FieldError::code));
  }

  @Test
  void an_error_points_at_the_content_when_it_is_too_large_alone() {
    assertThatThrownBy(() -> SendRequestReader.read(overriding(5_000, "fcm", 10)))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem ->
                assertThat(problem.errors())
                    .extracting(FieldError::pointer)
                    .containsOnly("/content"));
  }

  private static ObjectNode overriding(int body, String name, int override) {
    String message =
        "{\"audience\":{\"topic\":\"t\"},\"content\":{\"body\":\"%s\"},\"overrides\":{\"%s\":{\"x\":\"%s\"}}}";
    return (ObjectNode)
        WireForm.mapper().readTree(message.formatted("x".repeat(body), name, "y".repeat(override)));
  }

  @Test
  void only_the_providers_of_the_route_count() {
    assertThatThrownBy(() -> read(4_096, "mqtt"))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem ->
                assertThat(problem.errors())
                    .extracting(error -> error.code())
                    .containsExactly("too_large_for_mqtt"));
    assertThatThrownBy(() -> read(4_096, "vendor"))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem ->
                assertThat(problem.errors())
                    .extracting(error -> error.code())
                    .containsExactly("too_large_for_apns", "too_large_for_fcm"));
  }

  @Test
  void web_push_counts_where_the_message_says_something_of_it() {
    String body =
        "{\"audience\":{\"device\":\"d\"},\"content\":{\"body\":\"%s\"},\"overrides\":{\"webpush\":{\"icon\":\"%s\"}}}";
    ObjectNode fits =
        (ObjectNode) WireForm.mapper().readTree(body.formatted("x", "y".repeat(3_000)));
    ObjectNode large =
        (ObjectNode) WireForm.mapper().readTree(body.formatted("x", "y".repeat(4_000)));

    assertThatCode(() -> SendRequestReader.read(fits)).doesNotThrowAnyException();
    assertThatThrownBy(() -> SendRequestReader.read(large))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem ->
                assertThat(problem.errors())
                    .extracting(error -> error.code())
                    .containsExactly("too_large_for_webpush"));
  }

  private static final String TO_A_TOKEN =
      "\"audience\":{\"device\":\"d\"},\"live_activity\":{\"token\":\"abababab\",";
  private static final String OVER_A_CHANNEL =
      "\"audience\":{\"channel\":\"channel-0192e0f0-0000-7000-8000-000000000001\"},\"live_activity\":{";

  private static SendRequest activity(String start, int bytes, String overrides) {
    String body = "{" + start + "\"event\":\"update\",\"content_state\":{\"x\":\"%s\"}}%s}";
    return SendRequestReader.read(
        (ObjectNode) WireForm.mapper().readTree(body.formatted("x".repeat(bytes), overrides)));
  }

  @ParameterizedTest
  @CsvSource({"false, 4096", "true, 5120"})
  void a_live_activity_may_be_as_large_as_its_way_takes(boolean overChannel, int largest) {
    String start = overChannel ? OVER_A_CHANNEL : TO_A_TOKEN;
    String empty =
        "{\"aps\":{\"timestamp\":1795255200,\"event\":\"update\",\"content-state\":{\"x\":\"\"}}}";
    int most = largest - empty.length();

    assertThatCode(() -> activity(start, most, "")).doesNotThrowAnyException();
    assertThatThrownBy(() -> activity(start, most + 1, ""))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem -> {
              assertThat(problem.code()).isEqualTo(ProblemCode.PAYLOAD_TOO_LARGE);
              assertThat(problem.errors())
                  .singleElement()
                  .returns("/live_activity", FieldError::pointer)
                  .returns("too_large_for_apns", FieldError::code);
            });
  }

  @Test
  void an_override_that_replaces_a_large_state_lets_it_fit() {
    String replaced = ",\"overrides\":{\"apns\":{\"content-state\":\"small\"}}";

    assertThatCode(() -> activity(TO_A_TOKEN, 5_000, replaced)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "\u0001", "\"", "é", "😀"})
  void a_message_that_is_not_measured_fits_however_it_is_escaped(String text) {
    int longest = 0;
    for (int repeats = 1; repeats <= 700; repeats++) {
      SendRequest request = request(text.repeat(repeats));
      if (PayloadSizes.surelyFits(request)) {
        longest = repeats;
        assertThat(
                List.of(
                    PayloadMeasure.apns(request, ApnsPushType.ALERT),
                    PayloadMeasure.fcm(request),
                    PayloadMeasure.mqtt(request)))
            .allMatch(bytes -> bytes <= 4_096);
      }
    }

    assertThat(longest).isPositive();
  }

  private static SendRequest request(String text) {
    return new SendRequest(
        new Audience.All(),
        new Content(null, null, Map.of("id", text)),
        DeliveryOptions.DEFAULT,
        Overrides.NONE);
  }
}
