package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static io.pushplanet.common.testing.PushBuilder.recipient;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.provider.Provider;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.context.support.GenericApplicationContext;

class WorkerStopsIT extends NodeScene {
  private static final String MQTT = Topology.lane(Channel.MQTT, Priority.NORMAL);
  private static final String FCM = Topology.lane(Channel.FCM, Priority.NORMAL);

  private final ScriptedProvider fcm = new ScriptedProvider(Channel.FCM);

  @Override
  Provider[] providers() {
    return new Provider[] {fcm};
  }

  /// If the batch were handed out again for the silent device, the other message would go to its
  /// vendor twice.
  @Test
  void a_silent_device_has_no_other_message_sent_twice_at_a_deploy() throws Exception {
    connect("silent");
    connect("refused");
    node.answer("refused", Result.REFUSED);
    GenericApplicationContext worker = worker(nodes, delivery.normalLanes());
    servers
        .lanes()
        .publishAndWait(MQTT, List.of(together(waitingLong("silent"), waitingLong("refused"))));
    Eventually.within(PATIENCE, () -> assertThat(fcm.sent).containsExactly("refused"));

    worker.close();

    try (Nodes ofTheNext = DeliveryForTests.nodes(servers.sessions(), clock, meters)) {
      QueueConsumer next = deliveryAt(servers.database(), ofTheNext).normalLanes();
      next.start();
      try {
        Eventually.within(
            PATIENCE, () -> assertThat(fcm.sent).containsExactly("refused", "silent"));
      } finally {
        next.stop();
      }
    }
    assertThat(servers.drain(MQTT, Push.class)).isEmpty();
    assertThat(servers.drain(FCM, Push.class)).isEmpty();
    assertThat(fcm.sent).containsExactly("refused", "silent");
  }

  /// As Spring starts and stops it.
  private static GenericApplicationContext worker(Nodes nodes, QueueConsumer lanes) {
    GenericApplicationContext worker = new GenericApplicationContext();
    DefaultLifecycleProcessor lifecycle = new DefaultLifecycleProcessor();
    lifecycle.setTimeoutPerShutdownPhase(PATIENCE.toMillis());
    worker.registerBean(
        AbstractApplicationContext.LIFECYCLE_PROCESSOR_BEAN_NAME,
        DefaultLifecycleProcessor.class,
        () -> lifecycle);
    worker.getBeanFactory().registerSingleton("nodes", nodes);
    worker.getBeanFactory().registerSingleton("lanes", lanes);
    worker.refresh();
    return worker;
  }

  /// The part of a batch that a lane joins with others: without its brackets.
  private static byte[] together(Push... pushes) {
    byte[] batch = DeliveryScene.batch(pushes);
    return Arrays.copyOfRange(batch, 1, batch.length - 1);
  }

  private Push waitingLong(String device) {
    return servers.registered(
        aPush(clock)
            .from(APP)
            .delivered(
                new DeliveryOptions(
                    Route.AUTO,
                    Duration.ofHours(1),
                    Urgency.NORMAL,
                    null,
                    DeliveryOptions.LONGEST_FALLBACK_AFTER))
            .build()
            .to(
                List.of(
                    recipient(
                        new DeviceId(device),
                        true,
                        new FcmToken("t-" + device, "token", clock.instant())))));
  }
}
