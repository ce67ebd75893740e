package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.gateway.apns.ApnsAnswers.Meaning;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApnsAnswersTest {
  /// Apple's table and our meaning of each answer, written down a second time.
  @ParameterizedTest
  @CsvSource({
    "200, '', ACCEPTED",
    "400, BadDeviceToken, TOKEN_GONE_NOW",
    "400, DeviceTokenNotForTopic, TOKEN_FOREIGN",
    "400, BadTopic, REJECTED",
    "400, MissingTopic, REJECTED",
    "400, TopicDisallowed, TOPIC_REFUSED",
    "400, InvalidPushType, REJECTED",
    "400, BadPriority, REJECTED",
    "400, BadExpirationDate, REJECTED",
    "400, BadCollapseId, REJECTED",
    "400, BadMessageId, REJECTED",
    "400, DuplicateHeaders, REJECTED",
    "400, PayloadEmpty, REJECTED",
    "400, MissingDeviceToken, REJECTED",
    "400, IdleTimeout, RECONNECT",
    "403, ExpiredProviderToken, RENEW_PROVIDER_TOKEN",
    "403, InvalidProviderToken, CREDENTIAL_FAULT",
    "403, MissingProviderToken, CREDENTIAL_FAULT",
    "403, BadEnvironmentKeyIdInToken, CREDENTIAL_FAULT",
    "403, UnrelatedKeyIdInToken, RECONNECT_OR_CREDENTIAL_FAULT",
    "403, BadCertificate, CREDENTIAL_FAULT",
    "403, BadCertificateEnvironment, CREDENTIAL_FAULT",
    "403, Forbidden, CREDENTIAL_FAULT",
    "404, BadPath, REJECTED",
    "405, MethodNotAllowed, REJECTED",
    "410, Unregistered, TOKEN_GONE_SINCE",
    "410, ExpiredToken, TOKEN_GONE_SINCE",
    "413, PayloadTooLarge, REJECTED",
    "429, TooManyRequests, DEVICE_BUSY",
    "429, TooManyProviderTokenUpdates, KEEP_OLDER_PROVIDER_TOKEN",
    "500, InternalServerError, UNAVAILABLE",
    "503, ServiceUnavailable, UNAVAILABLE",
    "503, Shutdown, UNAVAILABLE",
    "400, SomethingNew, REJECTED",
    "403, SomethingNew, CREDENTIAL_FAULT",
    "401, '', UNAVAILABLE",
    "403, '', UNAVAILABLE",
    "410, '', REJECTED",
    "429, '', DEVICE_BUSY",
    "502, '', UNAVAILABLE",
    "302, '', UNAVAILABLE"
  })
  void an_answer_means(int status, String reason, Meaning meaning) {
    assertThat(ApnsAnswers.of(status, reason)).isEqualTo(meaning);
  }

  @ParameterizedTest
  @CsvSource({
    "403, ExpiredProviderToken, true",
    "429, TooManyProviderTokenUpdates, true",
    "403, UnrelatedKeyIdInToken, true",
    "400, IdleTimeout, true",
    "503, Shutdown, true",
    "503, ServiceUnavailable, false",
    "410, Unregistered, false",
    "429, TooManyRequests, false",
    "200, '', false"
  })
  void a_connection_is_given_up_after(int status, String reason, boolean spoilt) {
    assertThat(ApnsAnswers.spoilsConnection(status, reason)).isEqualTo(spoilt);
  }
}
