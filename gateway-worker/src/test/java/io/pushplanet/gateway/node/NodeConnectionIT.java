package io.pushplanet.gateway.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.WireForm;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// What others suffered with Paho's client, by the numbers of their issues.
class NodeConnectionIT {
  private static final int PUBLISHES = 2_000;

  @Test
  void paho_mqtt_java_551_no_more_is_published_at_once_than_the_node_takes() throws Exception {
    byte[] drain =
        WireForm.write(
            new NodeFrame.Drain(
                List.of(new NodeFrame.Drain.Device(new AppId("shop"), new DeviceId("d1")))));
    try (FakeNode node = new FakeNode("n1");
        var workers = Executors.newVirtualThreadPerTaskExecutor()) {
      node.takeAtOnce(8);
      NodeConnection connection =
          NodeConnection.open(
              node.lease(Instant.EPOCH),
              "gw",
              new NodeSettings("gateway", new Secret("x"), 1, 64, Duration.ofSeconds(60)));

      List<Future<?>> published = new ArrayList<>();
      for (int count = 0; count < PUBLISHES; count++) {
        published.add(
            workers.submit(() -> {
              connection.drain(drain);
              return true;
            }));
      }

      // Else some of them end with "Too many publishes in progress (32202)".
      for (Future<?> one : published) {
        one.get(60, TimeUnit.SECONDS);
      }
      assertThat(node.drained()).hasSize(PUBLISHES);
      connection.close();
    }
  }
}
