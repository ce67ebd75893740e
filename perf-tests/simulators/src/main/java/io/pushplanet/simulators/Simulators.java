package io.pushplanet.simulators;

import io.pushplanet.simulators.apns.ApnsDirectory;
import io.pushplanet.simulators.apns.ApnsSettings;
import io.pushplanet.simulators.apns.ApnsSimulator;
import io.pushplanet.simulators.fcm.FcmDirectory;
import io.pushplanet.simulators.fcm.FcmSimulator;
import io.pushplanet.simulators.hms.HmsDirectory;
import io.pushplanet.simulators.hms.HmsSimulator;
import io.pushplanet.simulators.ledger.Ledger;
import io.pushplanet.simulators.script.Script;
import io.pushplanet.simulators.server.SimulatorServer;
import io.pushplanet.simulators.tls.Authority;
import io.pushplanet.simulators.webpush.WebPushDirectory;
import io.pushplanet.simulators.webpush.WebPushSimulator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import tools.jackson.databind.json.JsonMapper;

/// Starts APNs (production and sandbox), FCM and Push Kit with OAuth, a Web Push service, and the
/// management port; as a program or inside a test.
///
/// Thread-safe.
public final class Simulators implements AutoCloseable {
  private final ApnsDirectory apnsDirectory;
  private final FcmDirectory fcmDirectory;
  private final HmsDirectory hmsDirectory;
  private final WebPushDirectory webPushDirectory;
  private final Authority authority;
  private final Ledger ledger;
  private final Script script;
  private final ApnsSimulator apns;
  private final ApnsSimulator apnsSandbox;
  private final FcmSimulator fcm;
  private final HmsSimulator hms;
  private final WebPushSimulator webPush;
  private final SimulatorServer management;

  private Simulators(Options options, Clock clock) {
    Path state = options.state();
    authority = Authority.in(state, clock);
    ledger = Ledger.in(state, clock);
    script = new Script(new SplittableRandom(), clock);
    apnsDirectory = ApnsDirectory.in(state);
    fcmDirectory = FcmDirectory.in(state);
    hmsDirectory = HmsDirectory.in(state);
    webPushDirectory = WebPushDirectory.in(state);
    ApnsSettings settings =
        new ApnsSettings(
            options.at(options.apnsPort()),
            false,
            1_000,
            options.strictTokens(),
            options.apnsTokenRenewal());
    apns = new ApnsSimulator(settings, apnsDirectory, authority, ledger, script, clock);
    apnsSandbox =
        new ApnsSimulator(
            settings.asSandbox().at(options.at(options.apnsSandboxPort())),
            apnsDirectory,
            authority,
            ledger,
            script,
            clock);
    fcm =
        new FcmSimulator(
            options.at(options.fcmPort()), fcmDirectory, authority, ledger, script, clock);
    hms =
        new HmsSimulator(
            options.at(options.hmsPort()), hmsDirectory, authority, ledger, script, clock);
    webPush =
        new WebPushSimulator(
            options.at(options.webPushPort()), webPushDirectory, authority, ledger, script, clock);
    management =
        SimulatorServer.plain(
            options.at(options.managementPort()), client -> new Management(this)::answer);
  }

  /// Starts everything and writes `simulators.json` into the state directory.
  public static Simulators start(Options options, Clock clock) {
    Simulators simulators = new Simulators(options, clock);
    try {
      Files.writeString(options.state().resolve("simulators.json"), simulators.toJson() + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write simulators.json in " + options.state(), e);
    }
    return simulators;
  }

  public static void main(String[] arguments) throws InterruptedException {
    Options options;
    try {
      options = Options.of(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage() + "\n" + Options.USAGE);
      System.exit(2);
      return;
    }
    Simulators simulators;
    try {
      simulators = start(options, Clock.systemUTC());
    } catch (RuntimeException e) {
      // The servers that have started would keep the process alive.
      System.err.println(e.getMessage());
      System.exit(1);
      return;
    }
    Runtime.getRuntime().addShutdownHook(new Thread(simulators::close));
    System.out.println(simulators.toJson());
    new CountDownLatch(1).await();
  }

  /// The ports and the CA, as one line of JSON.
  public String toJson() {
    return JsonMapper.shared()
        .createObjectNode()
        .put("apns_port", apns.port())
        .put("apns_sandbox_port", apnsSandbox.port())
        .put("fcm_port", fcm.port())
        .put("fcm_token_uri", fcm.tokenUri())
        .put("hms_port", hms.port())
        .put("hms_token_uri", hms.tokenUri())
        .put("webpush_port", webPush.port())
        .put("management_port", management.port())
        .put("ca", authority.pem().toAbsolutePath().toString())
        .put("pid", ProcessHandle.current().pid())
        .toString();
  }

  /// APNs, production.
  public ApnsSimulator apns() {
    return apns;
  }

  /// APNs, sandbox.
  public ApnsSimulator apnsSandbox() {
    return apnsSandbox;
  }

  /// FCM and OAuth.
  public FcmSimulator fcm() {
    return fcm;
  }

  /// Push Kit and Huawei's OAuth.
  public HmsSimulator hms() {
    return hms;
  }

  /// The push service of all browsers.
  public WebPushSimulator webPush() {
    return webPush;
  }

  /// Apple's keys and tokens.
  public ApnsDirectory apnsDirectory() {
    return apnsDirectory;
  }

  /// Google's accounts and tokens.
  public FcmDirectory fcmDirectory() {
    return fcmDirectory;
  }

  /// Huawei's apps and tokens.
  public HmsDirectory hmsDirectory() {
    return hmsDirectory;
  }

  /// The browsers' subscriptions.
  public WebPushDirectory webPushDirectory() {
    return webPushDirectory;
  }

  /// The ledger of all requests.
  public Ledger ledger() {
    return ledger;
  }

  /// The faults in force.
  public Script script() {
    return script;
  }

  /// The certificate authority to trust.
  public Authority authority() {
    return authority;
  }

  /// The management port.
  public int managementPort() {
    return management.port();
  }

  @Override
  public void close() {
    management.close();
    apns.close();
    apnsSandbox.close();
    fcm.close();
    hms.close();
    webPush.close();
    ledger.close();
  }
}
