package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import io.pushplanet.quickstart.services.Service;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What is said while a server is away is true.
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
    Eventually.within(Duration.ofSeconds(60), () -> assertThat(ready()).isEqualTo(200));
  }

  private int ready() throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      URI uri =
          URI.create(
              "http://127.0.0.1:" + dispatcher.managementPort() + "/actuator/health/readiness");
      return http.send(
              HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10)).build(),
              HttpResponse.BodyHandlers.discarding())
          .statusCode();
    }
  }

  @Test
  void without_the_broker_nothing_is_promised() {
    dispatcher.services.kill9(Service.AMQP);

    Eventually.within(SOON, () -> assertThat(ready()).isEqualTo(503));
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
  void without_redis_sending_goes_on_and_idempotency_is_refused() {
    dispatcher.services.kill9(Service.REDIS);

    Eventually.within(SOON, () -> assertThat(ready()).isEqualTo(503));
    assertThat(shop.post("/messages", HELLO).status()).isEqualTo(202);
    Answer answer = shop.post("/messages", HELLO, "Idempotency-Key", "k");
    assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
    assertThat(answer.json().get("code").stringValue()).isEqualTo("redis_unavailable");
    assertThat(answer.header("Retry-After")).isNotEmpty();
    assertThat(shop.put("/devices/d1/session", "{\"app_version\":\"9\"}").status()).isEqualTo(204);
    assertThat(shop.get("/devices/d1").json().get("app_version").stringValue()).isEqualTo("9");
  }

  @Test
  void without_mysql_known_keys_and_routes_still_send() {
    dispatcher.services.kill9(Service.MYSQL);

    assertThat(shop.post("/messages", HELLO).status()).isEqualTo(202);
    assertThat(shop.put("/devices/d1/session", "{}").status()).isEqualTo(204);
    Answer answer =
        shop.post("/messages", "{\"audience\":{\"device\":\"d2\"},\"content\":{\"title\":\"a\"}}");
    assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
    assertThat(answer.json().get("code").stringValue()).isEqualTo("database_unavailable");
    assertThat(answer.header("Retry-After")).isNotEmpty();
    assertThat(
            shop.post("/messages", "{\"audience\":{\"all\":true},\"content\":{\"title\":\"a\"}}")
                .status())
        .isEqualTo(202);
  }
}
