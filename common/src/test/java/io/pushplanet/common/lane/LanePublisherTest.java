package io.pushplanet.common.lane;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.LogLines;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LanePublisherTest {
  @Test
  void a_broker_that_cannot_be_reached_is_told_by_its_address() {
    ConnectionFactory away =
        new ConnectionFactory() {
          @Override
          public Connection newConnection(String name) throws IOException {
            throw new ConnectException("Connection refused");
          }
        };
    away.setHost("rabbit.example.com");
    away.setPort(5673);

    try (LogLines lines = new LogLines(LanePublisher.class);
        LanePublisher _ =
            new LanePublisher(
                away,
                "test",
                LanePublisher.Settings.DEFAULT,
                new Random(1),
                new SimpleMeterRegistry())) {
      Eventually.within(
          Duration.ofSeconds(20),
          () ->
              assertThat(lines.said())
                  .contains(
                      "event=lane_connect_failed publisher=test broker=rabbit.example.com:5673"
                          + " reason=\"java.net.ConnectException: Connection refused\""));
    }
  }
}
