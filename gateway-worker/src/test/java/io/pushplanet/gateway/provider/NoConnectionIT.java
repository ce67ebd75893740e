package io.pushplanet.gateway.provider;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.simulators.apns.ApnsKey;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/// A worker to which APNs does not listen.
class NoConnectionIT {
  private static final Clock CLOCK = Clock.systemUTC();
  private @TempDir Path state;

  /// Redth/PushSharp#222, #211: messages without a connection are accepted and never leave.
  @Test
  void pushsharp_222_pushsharp_211_a_message_without_a_connection_waits_in_later_and_leaves()
      throws Exception {
    // Bound without listening, so that no other process gets the port meanwhile.
    try (Socket taken = new Socket()) {
      taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      ProviderPlatform platform =
          ProviderPlatform.start(
              state,
              "--gateway.apns.production-endpoint=https://127.0.0.1:" + taken.getLocalPort());
      platform.uploadKey(
          "cut-off",
          ApnsKey.issue("CUTOFF0001", "CUTKEY0001", List.of(ProviderPlatform.BUNDLE)),
          "production");
      try (ProviderWorker worker = new ProviderWorker(platform, CLOCK, Channel.APNS)) {
        worker.servers.sql().update("DELETE FROM later");

        worker.deliver(
            Channel.APNS, aPush(CLOCK).from("cut-off").toApns("d1", "c0".repeat(32)).build());

        Map<String, Object> waiting =
            worker.servers.sql().queryForMap("SELECT lane, reason, pushes FROM later");
        assertThat(waiting)
            .containsEntry("lane", "push.apns.high")
            .containsEntry("reason", "connect_refused");
        assertThat(worker.servers.drain(Topology.EVENTS, DeliveryEvent.class))
            .singleElement()
            .isInstanceOfSatisfying(
                DeliveryEvent.Attempted.class,
                told -> assertThat(told.attempt().reason()).isEqualTo("connect_refused"));
        try (ConfigurableApplicationContext connected =
            ProviderPlatform.worker(platform.simulators)) {
          assertThat(
                  sent(
                      ProviderPlatform.provider(connected, Channel.APNS),
                      String.valueOf(waiting.get("pushes"))))
              .isInstanceOf(Accepted.class);
        }
      }
    }
  }

  private static DeliveryOutcome sent(Provider provider, String waiting) {
    Push push = WireForm.readBatch(waiting.getBytes(StandardCharsets.UTF_8), Push.class).getFirst();
    return provider.send(push, push.recipients().getFirst());
  }
}
