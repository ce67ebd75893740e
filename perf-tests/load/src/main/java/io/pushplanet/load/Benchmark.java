package io.pushplanet.load;

import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.fault.FaultsBench;
import io.pushplanet.load.bench.fault.TakeoverBench;
import io.pushplanet.load.bench.hostile.HostileBench;
import io.pushplanet.load.bench.message.AcceptBench;
import io.pushplanet.load.bench.message.EndToEndBench;
import io.pushplanet.load.bench.provider.ApnsBench;
import io.pushplanet.load.bench.provider.CredentialsBench;
import io.pushplanet.load.bench.provider.FcmBench;
import io.pushplanet.load.bench.provider.GatewayBench;
import io.pushplanet.load.bench.provider.QuotaBench;
import io.pushplanet.load.bench.session.BroadcastBench;
import io.pushplanet.load.bench.session.ConnectionsBench;
import io.pushplanet.load.bench.session.StormBench;
import io.pushplanet.load.measure.Machine;
import io.pushplanet.load.measure.Report;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/// The benchmarks by name.
public enum Benchmark {
  ACCEPT(
      "accept",
      "unicast accepts per second with broker confirms [--clients=64,500] [--warm-up=60]",
      "clients warm-up"),
  END_TO_END(
      "end-to-end",
      "accepted to device PUBACK over MQTT, at full load and then evenly, then the auditor"
          + " [--rate=1000, a second; without it half of the full load] [--warm-up=30]",
      "rate warm-up"),
  APNS(
      "apns",
      "CPU per notification of our HTTP/2 beside pushy's, also over a long way and when the server"
          + " misbehaves; starts its own, needs no platform [--parts=speed,distance,faults]",
      "parts"),
  GATEWAY(
      "gateway",
      "accept to the provider's answer and the row that tells of it: CPU per notification, and what"
          + " goes from a full queue; starts its own, needs no platform [--channel=apns|fcm]"
          + " [--warm-up=30, twice] [--parts=single,messages,devices,queue,singles]"
          + " [--delay=150ms, of a round trip to the provider: the parts queue and singles]",
      "channel warm-up parts delay"),
  FCM(
      "fcm",
      "CPU per notification of our sender to FCM, each of a message of its own, and all of one; starts"
          + " its own, needs no platform"),
  QUOTA(
      "quota",
      "one message to all devices over FCM against a project's quota: how much of it is used, 429s, and"
          + " what a high message of the app takes meanwhile; starts its own, needs no platform"
          + " [--devices=100000] [--per-minute=60000] [--high=10, a second]"
          + " [--broadcasts=3, the worker restarts before the second]",
      "devices per-minute high broadcasts"),
  CREDENTIALS(
      "credentials",
      "an app's APNs credentials change at the dashboard: a certificate gives way to a key under load,"
          + " then tokens and keys are of the wrong environment, and repaired: whether a message fails"
          + " or a token is forgotten, and when operators hear of it; starts its own, needs no platform"
          + " [--devices=100000] [--rate=5000, messages a second] [--warm-up=30]"
          + " [--parts=rotation,swapped]",
      "devices rate warm-up parts"),
  CONNECTIONS(
      "connections",
      "memory and CPU per session against other brokers; starts its own, needs no platform"
          + " [--sessions=5000,10000,19500] [--servers=connection-manager,mosquitto,moquette,hivemq]"
          + " [--tls=1000,4000] [--table=1000000]; --sessions=300000, one number: so many over several"
          + " processes",
      "sessions servers tls table"),
  STORM(
      "storm",
      "all sessions cut and reconnecting at once: how fast they are back, whether a message to them is"
          + " lost, what delivery to others takes meanwhile; starts its own, needs no platform"
          + " [--sessions=15000] [--rate=1000, devices that the node admits in a second]"
          + " [--fleet=spare, or equal: what the devices get of the processors]",
      "sessions rate fleet"),
  BROADCAST(
      "broadcast",
      "one message to all devices of a node at QoS 1 and QoS 0: its CPU, when the last device has it,"
          + " what others feel; starts its own, needs no platform [--sessions=19500, of each node]"
          + " [--nodes=1] [--fleet=spare, or equal: what the devices get of the processors]",
      "sessions nodes fleet"),
  TAKEOVER(
      "takeover",
      "devices at several of three nodes at once, nodes killed and frozen, under load; then the"
          + " auditor; starts its own, needs no platform [--races=10000] [--kills=200]"
          + " [--freezes=20] [--devices=1000] [--rate=1000] [--minutes=40, of faults]",
      "races kills freezes devices rate minutes"),
  FAULTS(
      "faults",
      "providers that misbehave in every way they have, and workers killed again and again, under load;"
          + " then the auditor; starts its own, needs no platform [--each=30, of each kind at each"
          + " provider] [--kinds=goaway,silence,…] [--providers=apns,fcm,hms,webpush] [--kills=100] [--rate=500] [--devices=1000] [--minutes=40, of faults] [--warm-up=10] [--workers=2]",
      "each kinds providers kills rate devices minutes warm-up workers"),
  HOSTILE(
      "hostile",
      "mutated packets, slowloris and declared lengths at every listener, and what neighbours feel;"
          + " starts its own, needs no platform [--packets=1000000, decoded or refused at each listener]"
          + " [--slowloris=5000, over all listeners] [--pipeline=64, packets on a connection at most]"
          + " [--rate=100] [--doors=mqtt,tls,ws,wss,gateway]"
          + " [--warm-up=30] [--attackers=spare, or equal: what they get of the processors] [--seed=N]",
      "packets pipeline slowloris rate doors warm-up attackers seed");

  private final String text;
  private final String what;
  private final String options;

  Benchmark(String text, String what) {
    this(text, what, "");
  }

  /// @param options besides `--seconds`, separated by blanks
  Benchmark(String text, String what, String options) {
    this.text = text;
    this.what = what;
    this.options = options;
  }

  private Result measure(Run run) {
    return switch (this) {
      case ACCEPT -> AcceptBench.measure(run);
      case END_TO_END -> EndToEndBench.measure(run);
      case APNS -> ApnsBench.measure(run);
      case GATEWAY -> GatewayBench.measure(run);
      case FCM -> FcmBench.measure(run);
      case QUOTA -> QuotaBench.measure(run);
      case CREDENTIALS -> CredentialsBench.measure(run);
      case CONNECTIONS -> ConnectionsBench.measure(run);
      case STORM -> StormBench.measure(run);
      case BROADCAST -> BroadcastBench.measure(run);
      case TAKEOVER -> TakeoverBench.measure(run);
      case FAULTS -> FaultsBench.measure(run);
      case HOSTILE -> HostileBench.measure(run);
    };
  }

  /// Its options besides `--seconds`.
  public Set<String> options() {
    return Set.of(options.split(" "));
  }

  public static Optional<Benchmark> named(String name) {
    return Arrays.stream(values()).filter(benchmark -> benchmark.text.equals(name)).findFirst();
  }

  /// A line for each benchmark.
  public static String list() {
    StringBuilder list = new StringBuilder();
    for (Benchmark benchmark : values()) {
      list.append(String.format("  %-12s %s%n", benchmark.text, benchmark.what));
    }
    return list.toString();
  }

  /// Runs it, prints a table and writes `NAME.json` into the run's directory.
  ///
  /// @return whether the run succeeded (the account balanced, no message was lost)
  public boolean run(Run run) {
    Result result = measure(run);
    StringBuilder command = new StringBuilder("./pushplanet bench " + text);
    command.append(" --seconds=").append(run.measured().toSeconds());
    new TreeMap<>(run.options())
        .forEach((option, value) -> command.append(" --" + option + "=" + value));
    Report report =
        new Report(
            text,
            run.clock().instant(),
            Machine.commit(run.root()),
            command.toString(),
            Machine.description(),
            result.rows());
    run.out().println();
    run.out().print(report.table());
    run.out().println("written to " + report.write(run.directory()));
    if (result.succeeded()) {
      run.deleteServerData();
    } else {
      run.say("the run did not succeed: its servers' data and logs are in %s", run.ownDirectory());
    }
    return result.succeeded();
  }
}
