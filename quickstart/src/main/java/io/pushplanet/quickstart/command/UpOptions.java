package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.Listener;
import io.pushplanet.quickstart.platform.OnDeath;
import io.pushplanet.quickstart.platform.Plan;
import io.pushplanet.quickstart.platform.Ports;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.platform.PublicAddress;
import io.pushplanet.quickstart.services.MySqlAddress;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The options of `up`.
record UpOptions(Plan plan, boolean detach, OnDeath onDeath, boolean train) {
  /// The demo app has its credentials from the simulators.
  private static final List<Program> DISPENSABLE =
      Arrays.stream(Program.values()).filter(program -> program != Program.SIMULATORS).toList();

  /// The options of ports by their variables. `up` and the programs tell others of these ports, and
  /// would not know of another setting.
  private static final Map<String, String> PORT_OPTIONS =
      Map.of(
          "CM_MQTTPORT",
          Listener.MQTT.option(),
          "CM_TLSPORT",
          Listener.MQTT_TLS.option(),
          "CM_GATEWAYPORT",
          Listener.NODE.option(),
          "SERVER_PORT",
          Listener.DISPATCHER.option() + " or " + Listener.DASHBOARD.option(),
          "MANAGEMENT_SERVER_PORT",
          Stream.of(
                  Listener.DISPATCHER_MANAGEMENT,
                  Listener.DASHBOARD_MANAGEMENT,
                  Listener.WORKER_MANAGEMENT,
                  Listener.CM_MANAGEMENT)
              .map(Listener::option)
              .collect(Collectors.joining(" or ")));

  static UpOptions parse(Path root, List<String> arguments, Map<String, String> environment) {
    var single =
        new HashSet<>(
            Set.of(
                "--state",
                "--services",
                "--mysql",
                "--mysql-user",
                "--mysql-password",
                "--redis",
                "--amqp",
                "--bind",
                "--ports",
                "--port-offset",
                "--on-death",
                "--without"));
    for (Listener listener : Listener.values()) {
      single.add(listener.option());
    }
    Options options =
        Options.parse(
            arguments,
            new Options.Names(
                Set.of("--detach", "--train", "--no-train"), single, Set.of("--set")));
    if (options.has("--train") && options.has("--no-train")) {
      throw Options.usage("--train, which is the default, and --no-train exclude each other");
    }
    ServicesChoice services =
        services(options, environment.getOrDefault(ServicesChoice.VARIABLE, ""));
    var plan =
        new Plan(
            root,
            PushPlanet.state(root, options),
            services,
            external(services, options),
            address(options),
            ports(options),
            without(options),
            settings(root, options.pairs("--set")));
    return new UpOptions(
        plan, options.has("--detach"), onDeath(options), !options.has("--no-train"));
  }

  private static ServicesChoice services(Options options, String usual) {
    boolean chosen = options.has("--services");
    try {
      return ServicesChoice.parse(
          options.value("--services").orElse(usual.isEmpty() ? "auto" : usual));
    } catch (IllegalArgumentException e) {
      throw Options.usage((chosen ? "--" : ServicesChoice.VARIABLE + ": ") + e.getMessage());
    }
  }

  private static Plan.@Nullable External external(ServicesChoice services, Options options) {
    if (services != ServicesChoice.EXTERNAL) {
      List.of("--mysql", "--mysql-user", "--mysql-password", "--redis", "--amqp").stream()
          .filter(options::has)
          .findFirst()
          .ifPresent(option -> {
            throw Options.usage(option + " is for --services=external only");
          });
      return null;
    }
    if (!options.has("--services") && !options.has("--mysql")) {
      throw Options.usage(ServicesChoice.VARIABLE + " is external, but --mysql is missing");
    }
    try {
      return new Plan.External(
          MySqlAddress.of(
              options.required("--mysql"),
              options.value("--mysql-user").orElse("pushplanet"),
              options.value("--mysql-password").orElse("")),
          URI.create(options.required("--redis")),
          URI.create(options.required("--amqp")));
    } catch (IllegalArgumentException e) {
      throw Options.usage(String.valueOf(e.getMessage()));
    }
  }

  private static PublicAddress address(Options options) {
    String given = options.value("--bind").orElse("");
    try {
      return options.has("--bind") ? PublicAddress.parse(given) : PublicAddress.THIS_MACHINE;
    } catch (IllegalArgumentException e) {
      throw Options.usage(
          "--bind is '%s', but must be an IPv4 address of this machine, or 0.0.0.0 for all of them"
              .formatted(given));
    }
  }

  private static Ports ports(Options options) {
    var chosen = new EnumMap<Listener, Integer>(Listener.class);
    for (Listener listener : Listener.values()) {
      options
          .value(listener.option())
          .ifPresent(port -> chosen.put(listener, number(listener.option(), port, 65_535)));
    }
    String ports = options.value("--ports").orElse("usual");
    if (ports.equals("free") && options.has("--port-offset")) {
      throw Options.usage("--port-offset moves the usual ports, which --ports=free does without");
    }
    return switch (ports) {
      case "free" -> Ports.free(chosen);
      case "usual" ->
          Ports.usual(
              number("--port-offset", options.value("--port-offset").orElse("0"), 50_000), chosen);
      default -> throw Options.usage("--ports is free or usual, not '" + ports + "'");
    };
  }

  private static Set<Program> without(Options options) {
    var without = new HashSet<Program>();
    options
        .value("--without")
        .ifPresent(names -> {
          for (String name : names.split(",", -1)) {
            without.add(
                DISPENSABLE.stream()
                    .filter(program -> program.text().equals(name))
                    .findFirst()
                    .orElseThrow(() -> notDispensable(name)));
          }
        });
    return without;
  }

  private static Refusal notDispensable(String name) {
    return Options.usage(
        "--without is '%s', but must be one or more of %s, separated by commas"
            .formatted(
                name, DISPENSABLE.stream().map(Program::text).collect(Collectors.joining(", "))));
  }

  private static OnDeath onDeath(Options options) {
    return switch (options.value("--on-death").orElse("stop")) {
      case "stop" -> OnDeath.STOP;
      case "restart" -> OnDeath.RESTART;
      default -> throw Options.usage("--on-death is stop or restart");
    };
  }

  /// `a.b-c` and `a.bC` are one setting: a program gets both as `A_BC`.
  private static Map<String, String> settings(Path root, Map<String, String> given) {
    SettableProperties.check(root, given);
    var variables = new HashMap<String, String>();
    for (String property : given.keySet()) {
      String variable = Program.variable(property);
      if (PORT_OPTIONS.containsKey(variable)) {
        throw Options.usage("use " + PORT_OPTIONS.get(variable) + " instead of --set=" + property);
      }
      String other = variables.put(variable, property);
      if (other != null) {
        throw Options.usage("--set gives one setting twice, as " + other + " and as " + property);
      }
    }
    return given;
  }

  private static int number(String option, String text, int most) {
    try {
      int number = Integer.parseInt(text);
      if (number >= 0 && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw Options.usage(option + " is '" + text + "', but must be a number from 0 to " + most);
    }
    throw Options.usage(option + " is " + text + ", but must be a number from 0 to " + most);
  }
}
