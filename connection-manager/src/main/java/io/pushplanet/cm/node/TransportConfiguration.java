package io.pushplanet.cm.node;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.ConnectionPipeline;
import io.pushplanet.cm.delivery.GatewayPeers;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.keepalive.Networks;
import io.pushplanet.cm.mqtt.link.MqttLink;
import io.pushplanet.cm.transport.Descriptors;
import io.pushplanet.cm.transport.Heap;
import io.pushplanet.cm.transport.Listener;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.cm.transport.TransportSettings;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.tls.TlsIdentity;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// The node's listeners, and what runs behind them.
@Configuration(proxyBeanMethods = false)
class TransportConfiguration {
  private static final Logger LOG = LoggerFactory.getLogger(TransportConfiguration.class);

  /// Descriptors for the reserve, the listeners, gateways, and devices that are told Server busy.
  private static final long ROOM_BESIDE_SESSIONS = 1_000;

  /// For random choices and jitter on the loops: takes no lock, which `SecureRandom` does.
  static final RandomGenerator EACH_THREADS_OWN = () -> ThreadLocalRandom.current().nextLong();

  @Bean
  Heap heap() {
    return new Heap();
  }

  @Bean
  AcceptGate acceptGate(NodeSettings settings) {
    NodeSettings.Admission of = settings.admission();
    return new AcceptGate(
        new GateSettings(
            of.connectsPerSecond(),
            of.addressConnectsPerSecond(),
            of.addressBurst(),
            of.addressFailuresPerSecond(),
            of.maxHeld(),
            of.unlimitedSources()),
        System.nanoTime(),
        EACH_THREADS_OWN);
  }

  @Bean
  TransportSettings transportSettings(NodeSettings settings) {
    NodeSettings.Transport of = settings.transport();
    int processors = Runtime.getRuntime().availableProcessors();
    int handshakeThreads = settings.tls().handshakeThreads();
    return new TransportSettings(
        of.loops() == 0 ? processors : of.loops(),
        of.sockets().resolved(),
        of.unauthenticatedBytes().toBytes(),
        partialBytes(of.partialBytes().toBytes()),
        of.writeStall(),
        of.userTimeout(),
        of.backlog(),
        handshakeThreads == 0 ? Math.max(1, processors / 2) : handshakeThreads,
        settings.tls().handshakesWaiting());
  }

  private static long partialBytes(long set) {
    return set == 0 ? Runtime.getRuntime().maxMemory() / 8 : set;
  }

  @Bean(destroyMethod = "close")
  Transport transport(
      NodeSettings settings,
      TransportSettings transportSettings,
      AcceptGate gate,
      Heap heap,
      ConnectionPipeline pipeline,
      GatewayPeers gateways,
      Registrar registrar,
      Clock clock,
      MeterRegistry meters) {
    Networks networks =
        settings.keepAlive().learn()
            ? new Networks(settings.keepAlive().networks(), clock, EACH_THREADS_OWN, meters)
            : null;
    warnOfFewDescriptors(Descriptors.ofThisProcess(), settings.admission().maxSessions());
    List<Listener> listeners = deviceListeners(settings, networks, pipeline, clock);
    listeners.add(gatewayListener(settings, gateways, pipeline));
    var transport =
        Transport.start(listeners, transportSettings, gate, heap, meters, System::nanoTime);
    // Devices connect from here on, while the rest of the node is still starting.
    transport.onStandstill(registrar::stoodStill);
    return transport;
  }

  private static void warnOfFewDescriptors(Descriptors descriptors, int maxSessions) {
    if (!descriptors.suffice(maxSessions)) {
      LOG.warn(
          "event=few_descriptors limit={} max_sessions={} meaning=\"devices wait in the kernel's line"
              + " where they would hold more than {} descriptors: raise ulimit -n to {} or more, or"
              + " lower cm.admission.max-sessions\"",
          descriptors.limit(),
          maxSessions,
          descriptors.limit() - descriptors.reserve(),
          maxSessions + ROOM_BESIDE_SESSIONS);
    }
  }

  private static List<Listener> deviceListeners(
      NodeSettings settings,
      @Nullable Networks networks,
      ConnectionPipeline pipeline,
      InstantSource clock) {
    int pending = Math.toIntExact(settings.transport().pendingBytes().toBytes());
    var devices = new DeviceListeners(settings.bind(), pending, networks, pipeline);
    var listeners = new ArrayList<Listener>();
    listeners.add(devices.listener("mqtt", settings.mqttPort(), null, false));
    if (settings.wsPort() != null) {
      listeners.add(devices.listener("ws", settings.wsPort(), null, true));
    }
    NodeSettings.Tls tls = settings.tls();
    if (tls.certificate() != null && tls.privateKey() != null) {
      var identity = TlsIdentity.fromPem(tls.certificate(), tls.privateKey(), clock);
      listeners.add(devices.listener("tls", settings.tlsPort(), identity, false));
      if (settings.wssPort() != null) {
        listeners.add(devices.listener("wss", settings.wssPort(), identity, true));
      }
    } else if (settings.wssPort() != null) {
      throw new IllegalArgumentException(
          "cm.wss-port needs cm.tls.certificate and cm.tls.private-key");
    } else if (tls.certificate() != null || tls.privateKey() != null) {
      throw new IllegalArgumentException(
          "set both cm.tls.certificate and cm.tls.private-key, or neither");
    }
    return listeners;
  }

  /// The listeners for devices differ only in what lies below MQTT.
  private record DeviceListeners(
      String bind, int pendingBytes, @Nullable Networks networks, ConnectionPipeline pipeline) {
    Listener listener(String name, int port, @Nullable TlsIdentity tls, boolean webSocket) {
      return new Listener(
          name,
          new InetSocketAddress(bind, port),
          tls,
          webSocket,
          pendingBytes,
          false,
          connection -> new MqttLink(connection, networks, pipeline::accepted));
    }
  }

  private static Listener gatewayListener(
      NodeSettings settings, GatewayPeers gateways, ConnectionPipeline pipeline) {
    return new Listener(
        "gateway",
        new InetSocketAddress(settings.addressForGateways(), settings.gatewayPort()),
        null,
        false,
        Math.toIntExact(settings.transport().gatewayPendingBytes().toBytes()),
        true,
        connection -> new MqttLink(connection, link -> gateways.accepted(link, pipeline::drain)));
  }
}
