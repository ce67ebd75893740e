package io.pushplanet.cm;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.handshake.DeviceHandshake;
import io.pushplanet.cm.inbox.Inbox;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.session.DetachedWindows;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.gate.DeviceRates;
import io.pushplanet.cm.uplink.EventLane;
import io.pushplanet.cm.uplink.UplinkSettings;
import io.pushplanet.cm.uplink.Uplinks;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class ConnectionConfiguration {
  // Topic, packet id and properties around the largest uplink.
  private static final int PACKET_ROOM = 512;

  @Bean
  SessionMetrics sessionMetrics(MeterRegistry meters) {
    return new SessionMetrics(meters);
  }

  @Bean
  SessionTable sessionTable(MeterRegistry meters) {
    var table = new SessionTable();
    Gauge.builder("cm.sessions", table, SessionTable::size).register(meters);
    return table;
  }

  @Bean
  ConnectionPipeline connectionPipeline(
      MasterKey masterKey,
      Clock clock,
      Admission admission,
      Registrar registrar,
      SessionTable table,
      SessionLimits limits,
      SessionMetrics metrics,
      Inbox inbox,
      Uplinks uplinks,
      UplinkSettings uplinkSettings,
      EventLane eventLane,
      SecureRandom random) {
    int inFlight = uplinkSettings.inFlight();
    int packetBytes = uplinkSettings.bytes() + PACKET_ROOM;
    return new ConnectionPipeline(
        new DeviceHandshake(
            new DeviceCredential(masterKey, clock),
            limits.window(),
            inFlight,
            packetBytes,
            Uplinks.UPLINK),
        admission,
        registrar,
        table,
        new DetachedWindows(clock),
        new LateAcknowledgements(
            LateAcknowledgements.MAX, event -> eventLane.tell(event, () -> {})),
        limits,
        metrics,
        inbox,
        uplinks,
        new DeviceRates(
            uplinkSettings.perSecond(),
            uplinkSettings.burst(),
            System.nanoTime(),
            random.nextLong()),
        new ConnectionPipeline.Limits(
            PacketLimits.UNAUTHENTICATED.withPacketBytes(packetBytes), inFlight),
        clock,
        (delay, task) -> {
          ScheduledFuture<?> timer =
              ForkJoinPool.commonPool().schedule(task, delay.toSeconds(), TimeUnit.SECONDS);
          return () -> timer.cancel(false);
        });
  }
}
