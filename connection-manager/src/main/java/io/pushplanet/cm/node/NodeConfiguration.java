package io.pushplanet.cm.node;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.AdmissionMetrics;
import io.pushplanet.cm.admission.ServerReferences;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.inbox.Inbox;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.uplink.EventPublisher;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodePass;
import io.pushplanet.common.session.SessionDirectory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.HexFormat;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(NodeSettings.class)
class NodeConfiguration {
  @Bean
  NodeId nodeId(NodeSettings settings, SecureRandom random) {
    if (!settings.nodeId().isBlank()) {
      return new NodeId(settings.nodeId());
    }
    var suffix = new byte[4];
    random.nextBytes(suffix);
    return new NodeId(hostName() + "-" + HexFormat.of().formatHex(suffix));
  }

  private static String hostName() {
    try {
      String name = InetAddress.getLocalHost().getHostName().replaceAll("[^A-Za-z0-9._-]", "-");
      return name.length() > 50 ? name.substring(0, 50) : name;
    } catch (UnknownHostException unnamed) {
      return "node";
    }
  }

  @Bean
  ServerReferences serverReferences(NodeSettings settings) {
    return new ServerReferences(
        settings.admission().serverReference(), TransportConfiguration.EACH_THREADS_OWN);
  }

  @Bean
  Admission admission(NodeSettings settings, ServerReferences serverReferences, AcceptGate gate) {
    return new Admission(settings.admission().maxSessions(), serverReferences, gate);
  }

  @Bean
  AdmissionMetrics admissionMetrics(MeterRegistry meters) {
    return new AdmissionMetrics(meters);
  }

  @Bean
  Node node(
      NodeId nodeId,
      NodeSettings settings,
      Transport transport,
      SessionDirectory directory,
      SessionTable table,
      Registrar registrar,
      Admission admission,
      ServerReferences serverReferences,
      Clock clock) {
    return new Node(
        nodeId,
        settings,
        transport,
        directory,
        table,
        registrar,
        admission,
        serverReferences,
        clock,
        System::nanoTime);
  }

  @Bean(destroyMethod = "close")
  HeapAfterCollection heapAfterCollection(SessionTable table, MeterRegistry meters) {
    var heap = new HeapAfterCollection(table::size);
    Gauge.builder("cm.heap.after.collection", heap, HeapAfterCollection::bytes)
        .baseUnit("bytes")
        .register(meters);
    Gauge.builder(
            "cm.session.heap",
            heap,
            it -> it.perSession().stream().asDoubleStream().findAny().orElse(Double.NaN))
        .baseUnit("bytes")
        .register(meters);
    return heap;
  }

  @Bean
  NodeNumbers nodeNumbers(MeterRegistry meters, HeapAfterCollection heapAfterCollection) {
    return new NodeNumbers(meters, heapAfterCollection, System::nanoTime);
  }

  @Bean
  NodeOrders nodeOrders(NodeId nodeId, MasterKey masterKey, Clock clock, NodeSettings settings) {
    return new NodeOrders(
        nodeId, new NodePass(masterKey, clock), settings.gatewayUser(), settings.gatewayPassword());
  }

  @Bean
  NodeLifecycle nodeLifecycle(Node node, Registrar registrar, Environment environment) {
    return new NodeLifecycle(
        node, registrar, () -> environment.getProperty("local.server.port", Integer.class, 0));
  }

  @Bean
  NodeHealth nodeHealthIndicator(
      Transport transport,
      Registrar registrar,
      EventPublisher events,
      Inbox inbox,
      Admission admission) {
    return new NodeHealth(transport, registrar, events, inbox, admission);
  }
}
