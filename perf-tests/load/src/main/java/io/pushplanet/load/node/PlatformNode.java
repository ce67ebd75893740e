package io.pushplanet.load.node;

import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.services.Port;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// One of several connection managers of a platform, always on the same ports: to be killed, frozen and started again. For
/// one thread at a time.
public final class PlatformNode implements AutoCloseable {
  private static final Duration STOPS_WITHIN = Duration.ofSeconds(20);

  private final Platform platform;
  private final String id;
  private final int mqttPort = Port.free();
  private final Map<String, String> settings = new LinkedHashMap<>();
  private volatile @Nullable ChildProcess process;

  public PlatformNode(Platform platform, String id) {
    this.platform = platform;
    this.id = id;
    String management = Integer.toString(Port.free());
    settings.put("cm.node-id", id);
    settings.put("cm.mqtt-port", Integer.toString(mqttPort));
    settings.put("cm.tls-port", "0");
    settings.put("cm.gateway-port", Integer.toString(Port.free()));
    settings.put("server.port", management);
    settings.put("management.server.port", management);
    // The variable JDK_JAVA_OPTIONS: a node that lives for seconds is killed before its second
    // compiler has saved anything.
    settings.put("jdk.java.options", "-XX:TieredStopAtLevel=1 -XX:CICompilerCount=1");
  }

  public String id() {
    return id;
  }

  public InetSocketAddress mqtt() {
    return new InetSocketAddress("127.0.0.1", mqttPort);
  }

  /// Returns when it is ready.
  public void start() {
    process = platform.startAnother(Program.CONNECTION_MANAGER, id, settings);
  }

  /// SIGKILL. Returns when it is gone.
  public void kill9() {
    running().kill9();
  }

  /// SIGSTOP: its sockets stay, and nobody reads them.
  public void freeze() {
    signal("STOP");
  }

  /// SIGCONT.
  public void thaw() {
    signal("CONT");
  }

  private void signal(String name) {
    try {
      Process kill =
          new ProcessBuilder("kill", "-" + name, Long.toString(running().pid()))
              .inheritIO()
              .start();
      if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
        throw new IllegalStateException("cannot send SIG" + name + " to " + id);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot send SIG" + name + " to " + id, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private ChildProcess running() {
    ChildProcess now = process;
    if (now == null) {
      throw new IllegalStateException(id + " was never started");
    }
    return now;
  }

  @Override
  public void close() {
    ChildProcess now = process;
    if (now != null) {
      now.stop(STOPS_WITHIN);
    }
  }
}
