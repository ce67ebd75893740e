package io.pushplanet.common.settings;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Environment variables that look like settings of this program but are not. Spring Boot stops the
/// start because of an unknown property, but not because of an unknown variable, since other
/// programs also set variables. So a misspelt variable, or one of an older version, has no effect,
/// and this class logs a line for each.
///
/// It checks only variables with the prefix of the program's own settings (`GATEWAY_`):
/// `PUSHPLANET_` is also used by scripts.
public final class UnknownVariables {
  private static final Logger LOG = LoggerFactory.getLogger(UnknownVariables.class);

  private static final String COMMON = "pushplanet";

  /// Kubernetes announces a service `gateway-worker` in `GATEWAY_WORKER_SERVICE_HOST`,
  /// `GATEWAY_WORKER_PORT_9082_TCP_ADDR`, …
  /// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
  private static final Pattern OF_KUBERNETES =
      Pattern.compile(".+_SERVICE_(HOST|PORT(_.+)?)|.+_PORT_\\d+_(TCP|UDP|SCTP)(_.+)?");

  /// `GATEWAY_WORKER_PORT` is `tcp://10.0.0.11:9082`.
  private static final String PORT = "_PORT";

  private final Set<String> programs;
  private final KnownSettings known;

  private UnknownVariables(Set<String> programs, KnownSettings known) {
    this.programs = programs;
    this.known = known;
  }

  /// For the program on whose class path this runs.
  public static UnknownVariables ofThisProgram() {
    KnownSettings known = new KnownSettings();
    try {
      for (URL metadata :
          Collections.list(
              UnknownVariables.class.getClassLoader().getResources(KnownSettings.METADATA))) {
        known.add(text(metadata));
      }
    } catch (IOException e) {
      LOG.debug("event=settings_unreadable", e);
    }
    Set<String> programs = new TreeSet<>();
    known.names().forEach(name -> programs.add(name.substring(0, name.indexOf('.'))));
    programs.remove(COMMON);
    return new UnknownVariables(programs, known);
  }

  private static String text(URL metadata) throws IOException {
    try (InputStream in = metadata.openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /// Logs those of this process.
  static void tell() {
    ofThisProgram()
        .in(System.getenv())
        .forEach(variable ->
            LOG.warn(
                "event=variable_unknown name={} hint=\"no setting has this name, so it does nothing; docs/settings.md has"
                    + " them all\"",
                variable));
  }

  /// The names of the unknown variables in an environment.
  public SortedSet<String> in(Map<String, String> environment) {
    return environment.entrySet().stream()
        .filter(variable ->
            programs.stream()
                .anyMatch(program ->
                    variable.getKey().startsWith(program.toUpperCase(Locale.ROOT) + "_")))
        .filter(variable -> !isOfKubernetes(variable.getKey(), variable.getValue()))
        .map(Map.Entry::getKey)
        .filter(name -> !known.has(name))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static boolean isOfKubernetes(String name, String value) {
    return OF_KUBERNETES.matcher(name).matches() || (name.endsWith(PORT) && value.contains("://"));
  }
}
