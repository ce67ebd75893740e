package io.pushplanet.quickstart.services;

import java.util.Map;
import java.util.Objects;
import org.apache.qpid.server.SystemLauncher;

/// The main program of the child JVM that {@link QpidServer} starts. Only there is Qpid on the
/// class path.
final class QpidBroker {
  private QpidBroker() {}

  /// Runs until it is terminated. Work folder and port are the system properties `qpid.work_dir`
  /// and `qpid.amqp_port`.
  public static void main(String[] arguments) throws Exception {
    var launcher = new SystemLauncher();
    Runtime.getRuntime().addShutdownHook(new Thread(launcher::shutdown, "qpid-shutdown"));
    String configuration =
        Objects.requireNonNull(
                QpidBroker.class.getResource("/io/pushplanet/quickstart/services/qpid.json"))
            .toString();
    launcher.startup(
        Map.of(
            "type",
            "JSON",
            "initialConfigurationLocation",
            configuration,
            "startupLoggedToSystemOut",
            "false"));
  }
}
