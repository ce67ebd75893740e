package io.pushplanet.cm;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.AdmissionMetrics;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.handshake.DeviceHandshake;
import io.pushplanet.cm.inbox.Inbox;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.session.DetachedWindows;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.gate.DeviceRates;
import io.pushplanet.cm.uplink.DelayedWills;
import io.pushplanet.cm.uplink.EventPublisher;
import io.pushplanet.cm.uplink.UplinkMetrics;
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
  // Around the largest uplink: the longest topic, all properties, the packet id and the lengths.
  private static final int PACKET_ROOM =
      PacketLimits.TOPIC_BYTES + PacketLimits.UNAUTHENTICATED.propertyBytes() + 16;

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
  Reception reception(
      MasterKey masterKey,
      Clock clock,
      SessionLimits limits,
      UplinkSettings uplinks,
      Admission admission,
      AdmissionMetrics metrics,
      SessionTable table,
      Registrar registrar) {
    var handshake =
        new DeviceHandshake(
            new DeviceCredential(masterKey, clock),
            limits.window(),
            uplinks.inFlight(),
            packetBytes(uplinks),
            Uplinks.UPLINK,
            uplinks.bytes());
    return new Reception(handshake, admission, metrics, table, registrar);
  }

  private static int packetBytes(UplinkSettings uplinks) {
    return uplinks.bytes() + PACKET_ROOM;
  }

  @Bean
  DeviceSession.Shared sessionShared(
      SessionLimits limits, SessionMetrics metrics, EventPublisher events, Clock clock) {
    return new DeviceSession.Shared(
        limits,
        metrics,
        new LateAcknowledgements(LateAcknowledgements.MAX, event -> events.tell(event, () -> {})),
        clock);
  }

  @Bean
  InboundFlow.Shared inboundShared(
      Uplinks uplinks,
      UplinkSettings settings,
      UplinkMetrics uplinkMetrics,
      AdmissionMetrics admissionMetrics,
      SecureRandom random) {
    return new InboundFlow.Shared(
        uplinks,
        new DeviceRates(
            settings.perSecond(), settings.burst(), System.nanoTime(), random.nextLong()),
        uplinkMetrics,
        admissionMetrics,
        settings.inFlight());
  }

  @Bean
  DelayedWills delayedWills(Registrar registrar, Uplinks uplinks) {
    return new DelayedWills(
        (delay, task) -> {
          ScheduledFuture<?> timer =
              ForkJoinPool.commonPool().schedule(task, delay.toSeconds(), TimeUnit.SECONDS);
          return () -> timer.cancel(false);
        },
        registrar::unlessElsewhere,
        uplinks::will);
  }

  @Bean
  ConnectionPipeline connectionPipeline(
      Reception reception,
      Registrar registrar,
      SessionTable table,
      Clock clock,
      DeviceSession.Shared sessionShared,
      Inbox inbox,
      InboundFlow.Shared inboundShared,
      DelayedWills wills,
      UplinkSettings uplinks) {
    return new ConnectionPipeline(
        reception,
        registrar,
        table,
        new DetachedWindows(clock),
        sessionShared,
        inbox,
        inboundShared,
        wills,
        PacketLimits.UNAUTHENTICATED.withPacketBytes(packetBytes(uplinks)));
  }
}
