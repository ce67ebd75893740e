package io.pushplanet.gateway.credential;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.provider.CredentialGate;
import io.pushplanet.gateway.provider.CredentialGate.Addressee;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenForeign;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.datasource.AbstractDataSource;

class CredentialStandingTest {
  private static final Credential KEY =
      new Credential.HmsClient("1", new Secret("secret"), "fingerprint");

  private final MutableClock clock = MutableClock.started();
  private final Database database = new Database();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final CredentialStanding standing =
      new CredentialStanding(
          7,
          new AppId("shop"),
          "apns",
          "production",
          clock,
          new CredentialPauses(database, new Alerts(database, clock, meters), clock, meters));

  /// Takes every statement as one that changes no row, unless it is away.
  private static final class Database extends AbstractDataSource {
    boolean away;

    @Override
    public Connection getConnection() throws SQLException {
      if (away) {
        throw new SQLException("away");
      }
      return silent(Connection.class);
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      return getConnection();
    }

    private static <T> T silent(Class<T> type) {
      return type.cast(
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (_, method, _) -> {
                Class<?> returned = method.getReturnType();
                if (returned == PreparedStatement.class) {
                  return silent(returned);
                }
                return returned == boolean.class
                    ? (Object) false
                    : returned == int.class ? 0 : null;
              }));
    }
  }

  @Test
  void few_doubtful_answers_do_not_pause() {
    doubts(CredentialStanding.FEWEST_DOUBTS - 1);

    assertThat(standing.pausedBecause()).isEmpty();
  }

  @Test
  void many_doubtful_answers_pause_when_nearly_no_other_comes() {
    doubts(CredentialStanding.FEWEST_DOUBTS);

    assertThat(standing.pausedBecause()).hasValue("BadDeviceToken for nearly every device");
  }

  @Test
  void many_doubtful_answers_among_many_good_ones_do_not_pause() {
    for (int i = 0; i < 10 * CredentialStanding.FEWEST_DOUBTS; i++) {
      standing.doubted("BadDeviceToken");
      standing.taken();
    }

    assertThat(standing.pausedBecause()).isEmpty();
  }

  @Test
  void messages_that_we_reject_ourselves_do_not_hide_doubtful_answers() {
    for (int i = 0; i < CredentialStanding.FEWEST_DOUBTS; i++) {
      answers(1, Addressee.DEVICE, new Rejected(0, "payload_too_large"));
      standing.doubted("BadDeviceToken");
    }

    assertThat(standing.pausedBecause()).hasValue("BadDeviceToken for nearly every device");
  }

  static Stream<DeliveryOutcome> doubtful() {
    return Stream.of(
        new TokenGone(400, "BadDeviceToken", Instant.EPOCH, Evidence.DOUBTED),
        new TokenForeign(400, "DeviceTokenNotForTopic"),
        new Rejected(400, "TopicDisallowed", null, Evidence.DOUBTED),
        new CredentialFault(404, "NOT_FOUND", null, null, Evidence.DOUBTED));
  }

  @ParameterizedTest
  @MethodSource("doubtful")
  void nearly_nothing_but_doubtful_answers_pauses(DeliveryOutcome answer) {
    answers(CredentialStanding.FEWEST_DOUBTS - 1, Addressee.DEVICE, answer);
    assertThat(standing.pausedBecause()).isEmpty();

    answers(1, Addressee.DEVICE, answer);

    assertThat(standing.pausedBecause()).hasValue(answer.reason() + " for nearly every device");
  }

  /// The token of a Live Activity comes with the message and may be anything.
  @Test
  void doubts_about_a_live_activitys_token_do_not_pause() {
    doubtful()
        .limit(2)
        .forEach(answer ->
            answers(2 * CredentialStanding.FEWEST_DOUBTS, Addressee.LIVE_ACTIVITY, answer));

    assertThat(standing.pausedBecause()).isEmpty();
  }

  /// Those of one answer that are refused may come first, as the oldest devices do.
  @Test
  void an_answer_that_accepts_some_devices_does_not_pause() {
    int doubted = 2 * CredentialStanding.FEWEST_DOUBTS;
    List<DeliveryOutcome> answer = new ArrayList<>();
    for (int i = 0; i < doubted; i++) {
      answer.add(new TokenGone(200, "80100000", Instant.EPOCH, Evidence.DOUBTED));
    }
    answer.add(new DeliveryOutcome.Accepted(200, "", "1"));

    List<DeliveryOutcome> outcomes =
        CredentialGate.send(
            new CredentialLookup.Found<>(KEY, standing), answer.size(), (Credential _) -> answer);

    assertThat(outcomes).isEqualTo(answer);
    assertThat(standing.pausedBecause()).isEmpty();
  }

  @Test
  void a_fault_of_another_credential_does_not_pause() {
    answers(
        2 * CredentialStanding.FEWEST_DOUBTS,
        Addressee.DEVICE,
        new CredentialFault(401, "THIRD_PARTY_AUTH_ERROR", null, null, Evidence.NONE));

    assertThat(standing.pausedBecause()).isEmpty();
  }

  @Test
  void a_refusal_pauses_at_once() {
    answers(1, Addressee.DEVICE, new CredentialFault(403, "InvalidProviderToken"));

    assertThat(standing.pausedBecause()).hasValue("InvalidProviderToken");
  }

  @Test
  void doubts_of_more_than_a_minute_are_forgotten() {
    for (int i = 0; i < 10; i++) {
      doubts(CredentialStanding.FEWEST_DOUBTS / 2);
      clock.advance(CredentialStanding.WINDOW.plus(Duration.ofSeconds(1)));
    }

    assertThat(standing.pausedBecause()).isEmpty();
  }

  @Test
  void a_pause_that_could_not_be_written_down_is_tried_with_the_next_refusal() {
    database.away = true;
    standing.refused("InvalidProviderToken");
    assertThat(standing.pausedBecause()).isEmpty();

    database.away = false;
    standing.refused("InvalidProviderToken");

    assertThat(standing.pausedBecause()).hasValue("InvalidProviderToken");
  }

  private void answers(int count, Addressee to, DeliveryOutcome answer) {
    for (int i = 0; i < count; i++) {
      CredentialGate.send(new CredentialLookup.Found<>(KEY, standing), to, _ -> answer);
    }
  }

  private void doubts(int count) {
    for (int i = 0; i < count; i++) {
      standing.doubted("BadDeviceToken");
    }
  }
}
