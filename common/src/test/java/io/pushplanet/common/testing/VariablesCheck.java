package io.pushplanet.common.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.settings.UnknownVariables;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// The environment variables that a program takes for its settings.
public final class VariablesCheck {
  private VariablesCheck() {}

  /// @param module of the program on whose class path this runs
  /// @param further variables that are settings of the program as well
  /// @throws AssertionError when the program misses a variable of its own, or takes a foreign one
  ///     for its own
  public static void of(String module, String... further) {
    UnknownVariables unknown = UnknownVariables.ofThisProgram();
    Map<String, String> known = new TreeMap<>();
    for (String name : SettingsTable.names(module)) {
      String variable = name.toUpperCase(Locale.ROOT).replace('.', '_');
      known.put(variable.replace("-", ""), "x");
      known.put(variable.replace('-', '_'), "x");
    }
    for (String variable : further) {
      known.put(variable, "x");
    }
    String program = known.keySet().iterator().next();
    program = program.substring(0, program.indexOf('_'));

    assertThat(unknown.in(known)).isEmpty();
    assertThat(
            unknown.in(
                Map.of(
                    program + "_NO_SUCH_SETTING",
                    "8",
                    program + "_NO_SUCH_PORT",
                    "8080",
                    program + "_WORKER_PORT",
                    "tcp://10.0.0.11:9082",
                    program + "_WORKER_PORT_9082_TCP",
                    "tcp://10.0.0.11:9082",
                    program + "_WORKER_PORT_9082_TCP_ADDR",
                    "10.0.0.11",
                    program + "_WORKER_SERVICE_HOST",
                    "10.0.0.11",
                    program + "_WORKER_SERVICE_PORT_HTTP",
                    "9082",
                    "OTHER_SETTING",
                    "8",
                    "PUSHPLANET_HEAP",
                    "2g")))
        .containsExactly(program + "_NO_SUCH_PORT", program + "_NO_SUCH_SETTING");
  }
}
