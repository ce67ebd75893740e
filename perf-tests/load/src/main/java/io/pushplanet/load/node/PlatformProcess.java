package io.pushplanet.load.node;

import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.services.Port;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One of several processes of a platform's program, always on the same ports: it can be killed,
/// frozen and started again. For one thread at a time.
public class PlatformProcess implements AutoCloseable {
  private static final Duration STOPS_WITHIN = Duration.ofSeconds(20);

  private final Platform platform;
  private final Program program;
  private final String name;
  private final int managementPort = Port.free();
  private final Map<String, String> settings = new LinkedHashMap<>();
  private volatile @Nullable ChildProcess process;

  /// @param name of the process and its log
  /// @param further settings beside the management port
  public PlatformProcess(
      Platform platform, Program program, String name, Map<String, String> further) {
    this.platform = platform;
    this.program = program;
    this.name = name;
    settings.put("server.port", Integer.toString(managementPort));
    settings.put("management.server.port", Integer.toString(managementPort));
    // The variable JDK_JAVA_OPTIONS: a process that lives for seconds is killed before its second
    // compiler has saved any time.
    settings.put("jdk.java.options", "-XX:TieredStopAtLevel=1 -XX:CICompilerCount=1");
    settings.putAll(further);
  }

  public int managementPort() {
    return managementPort;
  }

  /// Starts the process. Returns when it is ready.
  public void start() {
    process = platform.startAnother(program, name, settings);
  }

  /// SIGKILL. Returns when the process is gone.
  public void kill9() {
    running().kill9();
  }

  /// SIGSTOP: its sockets stay open, but it does not read from them.
  public void freeze() {
    running().freeze();
  }

  /// SIGCONT.
  public void thaw() {
    running().thaw();
  }

  private ChildProcess running() {
    ChildProcess now = process;
    if (now == null) {
      throw new IllegalStateException(name + " was never started");
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
