package io.pushplanet.load.measure;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.load.scenario.Target;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TimelinesTest {
  private static final String UNTOLD = "{\"data\":[{\"attempts\":[]}]}";
  private static final String TOLD = "{\"data\":[{\"attempts\":[{}]}]}";

  private final CountDownLatch asked = new CountDownLatch(1);
  private volatile String answer = UNTOLD;
  private HttpServer api;

  @BeforeEach
  void start() throws IOException {
    api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    api.createContext(
        "/",
        exchange -> {
          byte[] body = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
          asked.countDown();
        });
    api.start();
  }

  @AfterEach
  void stop() {
    api.stop(0);
  }

  @Test
  void a_delivery_that_the_api_shows_has_its_time() throws InterruptedException {
    try (Timelines timelines = new Timelines(target(), Duration.ofSeconds(30))) {
      arrived(timelines);
      asked.await();
      answer = TOLD;

      timelines.finish();

      assertThat(timelines.micros().getTotalCount()).isOne();
      assertThat(timelines.untold()).isZero();
    }
  }

  @Test
  void a_delivery_that_the_api_never_shows_is_untold() throws InterruptedException {
    try (Timelines timelines = new Timelines(target(), Duration.ofMillis(50))) {
      arrived(timelines);
      asked.await();

      timelines.finish();

      assertThat(timelines.micros().getTotalCount()).isZero();
      assertThat(timelines.untold()).isOne();
    }
  }

  private static void arrived(Timelines timelines) {
    timelines.arrived(
        new DeviceId("d1"), "0190b8a0-0000-7000-8000-000000000001", System.nanoTime());
  }

  private Target target() {
    URI url = URI.create("http://localhost:" + api.getAddress().getPort());
    Secret none = new Secret("none");
    return new Target(url, "", 0, new AppId("shop"), none, url, "", "", none, "", Map.of());
  }
}
