package io.pushplanet.load.bench.provider;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.client.Operator;
import io.pushplanet.load.node.AlertReceiver;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.quickstart.platform.Addresses;
import io.pushplanet.quickstart.platform.Program;
import java.net.URI;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// An app's credentials for APNs change under load, as an operator changes them at the dashboard: a
/// certificate gives way to a key, then the environments are swapped on many devices, and repaired.
/// The whole platform runs, without the connection manager.
public final class CredentialsBench {
  private static final List<String> PARTS = List.of("rotation", "swapped");
  private static final int SECRET_BYTES = 32;
  private static final int WARM_UP_SECONDS = 30;

  private CredentialsBench() {}

  public static Result measure(Run run) {
    List<String> parts = run.some("parts", String.join(",", PARTS), PARTS);
    int devices = run.number("devices", 100_000);
    int perSecond = run.number("rate", 5_000);
    Duration warmUp = Duration.ofSeconds(run.number("warm-up", WARM_UP_SECONDS));
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    Findings findings = new Findings();
    try (AlertReceiver alerts = AlertReceiver.start();
        OwnPlatform platform =
            OwnPlatform.start(
                run,
                Set.of(Program.CONNECTION_MANAGER),
                Map.of(
                    "gateway.alerts.webhook-url",
                    alerts.url(),
                    "gateway.alerts.webhook-secret",
                    Base64.getEncoder().encodeToString(secret)));
        Operator operator = operator(platform.platform().addresses());
        Connection mysql = mysql(platform.target())) {
      Target target = platform.target();
      run.say("registering %,d devices", devices);
      List<DeviceId> registered =
          Population.register(target, run.name(), Map.of(Channel.APNS, devices)).of(Channel.APNS);
      AppleKeys apple = new AppleKeys(target.simulatorsUrl(), operator, target.app().value());
      if (parts.contains("rotation")) {
        WorkerFigures worker = new WorkerFigures("apns", platform, mysql);
        new KeyRotation(run, findings, target, registered, worker, apple, perSecond)
            .measure(warmUp);
      }
      if (parts.contains("swapped")) {
        new SwappedKeys(run, findings, target, registered, mysql, apple, alerts).measure();
      }
      return findings.result();
    } catch (SQLException e) {
      throw new IllegalStateException("cannot reach MySQL: " + e.getMessage(), e);
    }
  }

  private static Operator operator(Addresses addresses) {
    return Operator.loggedIn(
        URI.create(addresses.dashboardUrl()),
        addresses.operatorUser(),
        addresses.operatorPassword());
  }

  private static Connection mysql(Target target) throws SQLException {
    return DriverManager.getConnection(
        target.mysqlUrl(), target.mysqlUser(), target.mysqlPassword().reveal());
  }
}
