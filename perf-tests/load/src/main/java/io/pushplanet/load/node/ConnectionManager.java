package io.pushplanet.load.node;

import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.quickstart.platform.BuiltPrograms;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.Readiness;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Port;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Our own node, as the build left it, with services that a benchmark has started.
public final class ConnectionManager implements Server {
  /// The key that signs the fleet's credentials. Only for nodes on the loopback address that end
  /// with the benchmark.
  public static final String MASTER_KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

  /// The password of its user `gateway`.
  public static final String GATEWAY_PASSWORD = "only-for-benchmarks";

  private static final Duration READY_WITHIN = Duration.ofMinutes(5);
  private static final Duration STOPS_WITHIN = Duration.ofSeconds(20);

  private final ChildProcess process;
  private final int mqttPort;
  private final int tlsPort;
  private final int gatewayPort;
  private final int managementPort;

  private ConnectionManager(
      ChildProcess process, int mqttPort, int tlsPort, int gatewayPort, int managementPort) {
    this.process = process;
    this.mqttPort = mqttPort;
    this.tlsPort = tlsPort;
    this.gatewayPort = gatewayPort;
    this.managementPort = managementPort;
  }

  /// Starts a node and waits until it is ready.
  ///
  /// @param settings further settings, such as `cm.admission.max-sessions`
  public static ConnectionManager start(
      Path root,
      LocalServices services,
      Path directory,
      String nodeId,
      List<String> jvmFlags,
      Map<String, String> settings) {
    int mqtt = Port.free();
    int tls = Port.free();
    int gateway = Port.free();
    int management = Port.free();
    List<String> command = new ArrayList<>();
    command.add(JvmFlags.java());
    command.addAll(JvmFlags.COMMON);
    command.addAll(jvmFlags);
    command.add("-jar");
    command.add(new BuiltPrograms(root).runnable(Program.CONNECTION_MANAGER).toString());
    command.addAll(
        List.of(
            "--pushplanet.mysql.url=" + services.mysql().jdbcUrl(),
            "--pushplanet.mysql.user=" + services.mysql().user(),
            "--pushplanet.mysql.password=" + services.mysql().password(),
            "--pushplanet.redis.uri=" + services.redis(),
            "--pushplanet.amqp.uri=" + services.amqp(),
            "--pushplanet.master-key=" + MASTER_KEY,
            "--server.port=" + management,
            "--cm.node-id=" + nodeId,
            "--cm.mqtt-port=" + mqtt,
            "--cm.tls-port=" + tls,
            "--cm.gateway-port=" + gateway,
            "--cm.bind=127.0.0.1",
            "--cm.gateway-password=" + GATEWAY_PASSWORD));
    settings.forEach((name, value) -> command.add("--" + name + "=" + value));
    ChildProcess process =
        // Otherwise a low-priority fleet would get as much processor time as the node.
        ChildProcess.startInOurSession(
            new Command(nodeId, command, Map.of(), directory, directory.resolve(nodeId + ".log")));
    ConnectionManager node = new ConnectionManager(process, mqtt, tls, gateway, management);
    try {
      Readiness.await(process, READY_WITHIN, node::answers);
      return node;
    } catch (RuntimeException e) {
      node.close();
      throw e;
    }
  }

  private boolean answers() {
    try {
      HttpURLConnection page =
          (HttpURLConnection) management().resolve("/node").toURL().openConnection();
      page.setConnectTimeout(2_000);
      page.setReadTimeout(2_000);
      return page.getResponseCode() == HttpURLConnection.HTTP_OK;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private URI management() {
    return URI.create("http://127.0.0.1:" + managementPort);
  }

  /// The answer to `GET /node`.
  public JsonNode page() {
    return JsonMapper.shared()
        .readTree(HttpConnection.ask(management(), "GET", "/node", "", "").text());
  }

  /// A listener by its name on the node's page: `mqtt`, `tls`, `ws`, `wss` or `gateway`.
  public InetSocketAddress listener(String name) {
    return new InetSocketAddress("127.0.0.1", page().path("ports").path(name).asInt());
  }

  /// The sum of a meter, under its name in Prometheus, over all its labels that contain `label`.
  public double meter(String name, String label) {
    return Meters.of(managementPort, name).sum(name, label);
  }

  /// A look at how it admits devices, over a connection that is kept.
  public AdmissionLook admissionLook() {
    return new AdmissionLook(management(), mqttPort);
  }

  /// The process, for freezing and killing it.
  public ChildProcess process() {
    return process;
  }

  @Override
  public String name() {
    return "connection-manager";
  }

  @Override
  public long pid() {
    return process.pid();
  }

  @Override
  public InetSocketAddress mqtt() {
    return new InetSocketAddress("127.0.0.1", mqttPort);
  }

  /// The address for devices with TLS, if the node has a certificate.
  public InetSocketAddress tls() {
    return new InetSocketAddress("127.0.0.1", tlsPort);
  }

  @Override
  public Sender fanOut() {
    Gateway gateway = gateway();
    return new Sender() {
      @Override
      public void send(List<Device> devices) {
        gateway.broadcast(devices);
      }

      @Override
      public void close() {
        gateway.close();
      }
    };
  }

  @Override
  public Optional<Sender> singles() {
    return Optional.of(gateway());
  }

  /// A logged-in gateway.
  public Gateway gateway() {
    return new Gateway("tcp://127.0.0.1:" + gatewayPort, GATEWAY_PASSWORD);
  }

  @Override
  public boolean isJvm() {
    return true;
  }

  @Override
  public void close() {
    process.stop(STOPS_WITHIN);
  }
}
