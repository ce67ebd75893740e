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

/// Environment variables that look like settings of this program and are none. Spring Boot stops the start over an unknown
/// property, but leaves the environment out, because others write there, too: what is misspelt there, or was a setting of an
/// older version, does nothing. So a line in the log tells of each.
///
/// Only what begins as the program's own settings do (`GATEWAY_`) is looked at: `PUSHPLANET_` is also what scripts take.
public final class UnknownVariables {
  private static final Logger LOG = LoggerFactory.getLogger(UnknownVariables.class);

  private static final String COMMON = "pushplanet";

  /// Kubernetes tells of a service `gateway-worker` in `GATEWAY_WORKER_SERVICE_HOST`, `GATEWAY_WORKER_PORT_9082_TCP_ADDR`, …
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

  /// Of the program whose class path this is.
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

  /// Tells of them in the log.
  static void tell() {
    ofThisProgram()
        .in(System.getenv())
        .forEach(variable ->
            LOG.warn(
                "event=variable_unknown name={} hint=\"no setting has this name, so it does nothing; docs/settings.md has"
                    + " them all\"",
                variable));
  }

  /// The names of those in an environment.
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
