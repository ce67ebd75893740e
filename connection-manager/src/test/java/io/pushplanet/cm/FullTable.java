package io.pushplanet.cm;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.AdmissionMetrics;
import io.pushplanet.cm.admission.ServerReferences;
import io.pushplanet.cm.directory.DirectorySettings;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.handshake.DeviceHandshake;
import io.pushplanet.cm.keepalive.Networks;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.MqttLink;
import io.pushplanet.cm.session.DetachedWindows;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Connection;
import io.pushplanet.cm.transport.FakeSockets;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.DeviceRates;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.uplink.DelayedWills;
import io.pushplanet.cm.uplink.UplinkMetrics;
import io.pushplanet.cm.uplink.Uplinks;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.node.NodeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// Fills a node's table with authenticated, subscribed sessions on fake sockets and prints their
/// cost. Everything but the JDK's socket objects, the directory and the inbox is the node's own
/// code. Used by `./pushplanet bench connections`.
final class FullTable {
  private static final int BATCH = 1_000;
  static final AppId APP = new AppId("bench");
  private static final Clock CLOCK = Clock.systemUTC();
  private static final PacketEncoder ENCODER = new PacketEncoder();
  private static final DeviceCredential CREDENTIAL =
      new DeviceCredential(MasterKey.parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), CLOCK);

  private FullTable() {}

  /// @param sessions authenticated, subscribed and in the table
  /// @param sweepNanos the time to sweep each of them once
  record Filled(long sessions, long heapBytes, long sweepNanos) {}

  public static void main(String[] arguments) throws Exception {
    var filled = fill(Integer.parseInt(arguments[0]));
    System.out.printf(
        Locale.ROOT,
        "sessions=%d heap_bytes=%d resident_bytes=%d peak_resident_bytes=%d sweep_micros=%d%n",
        filled.sessions(),
        filled.heapBytes(),
        kilobytes("VmRSS:") * 1024,
        kilobytes("VmHWM:") * 1024,
        filled.sweepNanos() / 1_000);
    System.exit(0);
  }

  static Filled fill(int sessions) throws IOException, InterruptedException {
    var table = new SessionTable();
    var meters = new SimpleMeterRegistry();
    var gate = new AcceptGate(GateSettings.OPEN, System.nanoTime(), new SplittableRandom(1));
    var pipeline = pipeline(table, sessions, gate, meters);
    var networks = new Networks(16, CLOCK, new SplittableRandom(2), meters);
    try (var sockets =
        new FakeSockets(
            gate,
            meters,
            System::nanoTime,
            connection -> new MqttLink(connection, networks, pipeline::accepted))) {
      var connections = new Connection[sessions];
      var subscribe = subscribe();
      for (int from = 0; from < sessions; from += BATCH) {
        int first = from;
        int end = Math.min(sessions, from + BATCH);
        onLoop(
            sockets,
            () -> {
              for (int number = first; number < end; number++) {
                connections[number] = sockets.accept();
                sockets.receive(connections[number], connect(number));
              }
            });
        onLoop(
            sockets,
            () -> {
              for (int number = first; number < end; number++) {
                sockets.receive(connections[number], subscribe);
              }
            });
      }
      var sweepNanos = new AtomicLong();
      for (int round = 0; round < 5; round++) {
        onLoop(
            sockets,
            () -> {
              long start = System.nanoTime();
              for (var connection : connections) {
                sockets.sweep(connection);
              }
              sweepNanos.set(System.nanoTime() - start);
            });
      }
      for (int collection = 0; collection < 3; collection++) {
        System.gc();
      }
      long subscribed = table.all().stream().filter(one -> one.subscription() != null).count();
      var runtime = Runtime.getRuntime();
      return new Filled(subscribed, runtime.totalMemory() - runtime.freeMemory(), sweepNanos.get());
    }
  }

  private static void onLoop(FakeSockets sockets, Runnable step) throws InterruptedException {
    sockets.loop().execute(step);
    var done = new CountDownLatch(1);
    // Tasks that the step left for a later turn run before this one.
    sockets.loop().execute(() -> sockets.loop().execute(done::countDown));
    if (!done.await(60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the loop stands still");
    }
  }

  private static byte[] connect(int number) {
    var device = new DeviceId(String.format(Locale.ROOT, "0190b8a0-0000-7000-8000-%012d", number));
    return ENCODER.encode(
        new MqttPacket.Connect(
            MqttVersion.V3_1_1,
            true,
            0,
            device.value(),
            APP.value(),
            password(device),
            null,
            MqttProperties.NONE),
        MqttVersion.V3_1_1);
  }

  static Binary password(DeviceId device) {
    return Binary.of(CREDENTIAL.mint(APP, device, Duration.ofDays(1)));
  }

  private static byte[] subscribe() {
    return ENCODER.encode(
        new MqttPacket.Subscribe(
            1,
            List.of(new SubscriptionRequest("push/messages", QoS.AT_LEAST_ONCE)),
            MqttProperties.NONE),
        MqttVersion.V3_1_1);
  }

  private static long kilobytes(String field) throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/status"))) {
      return lines
          .filter(line -> line.startsWith(field))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
          .findFirst()
          .orElse(0);
    }
  }

  /// The node's own code behind the links, without other processes.
  static ConnectionPipeline pipeline(
      SessionTable table, int sessions, AcceptGate gate, MeterRegistry meters) {
    var registrar =
        new Registrar(
            new Epochs(),
            new NodeId("full"),
            table,
            _ -> Optional.of(List.of()),
            meters,
            CLOCK,
            new DirectorySettings(
                sessions,
                Duration.ofHours(1),
                Duration.ofHours(1),
                Duration.ZERO,
                Duration.ofHours(1),
                Duration.ofHours(1)),
            Runnable::run,
            Runnable::run,
            (_, _) -> {});
    var admissionMetrics = new AdmissionMetrics(meters);
    var uplinkMetrics = new UplinkMetrics(meters);
    var uplinks =
        new Uplinks((_, _) -> true, 4_096, 16, CLOCK, new SplittableRandom(4), uplinkMetrics);
    return new ConnectionPipeline(
        new Reception(
            new DeviceHandshake(CREDENTIAL, 16, 32, 4_608, Uplinks.UPLINK, 4_096),
            new Admission(sessions, new ServerReferences("", new SplittableRandom(3)), gate),
            admissionMetrics,
            table,
            registrar),
        registrar,
        table,
        new DetachedWindows(CLOCK),
        new DeviceSession.Shared(
            new SessionLimits(
                16, 128, Duration.ofSeconds(2), Duration.ofSeconds(30), Duration.ofSeconds(15)),
            new SessionMetrics(meters),
            new LateAcknowledgements(LateAcknowledgements.MAX, _ -> {}),
            CLOCK),
        new NothingParked(),
        new InboundFlow.Shared(
            uplinks,
            new DeviceRates(10, 100, System.nanoTime(), 5),
            uplinkMetrics,
            admissionMetrics,
            32),
        new DelayedWills((_, _) -> () -> {}, registrar::unlessElsewhere, uplinks::will),
        PacketLimits.UNAUTHENTICATED);
  }
}
