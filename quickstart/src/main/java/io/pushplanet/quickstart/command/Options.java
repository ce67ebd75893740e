package io.pushplanet.quickstart.command;

import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The options of a command: `--name=value` or `--name value`, and flags `--name`, each at most
/// once.
///
/// @param values by name; an empty text for a flag
/// @param pairs by name, of options that take `KEY=VALUE` and may be repeated with another key
record Options(Map<String, String> values, Map<String, Map<String, String>> pairs) {

  Options {
    values = Map.copyOf(values);
    pairs = Map.copyOf(pairs);
  }

  /// The names of a command's options.
  ///
  /// @param flags take no value
  /// @param single take one value
  /// @param pairs take one `KEY=VALUE`, and may be repeated with another key
  record Names(Set<String> flags, Set<String> single, Set<String> pairs) {
    static final Names STATE = single(Set.of("--state"));

    static Names single(Set<String> names) {
      return new Names(Set.of(), names, Set.of());
    }

    Stream<String> all() {
      return Stream.of(flags, single, pairs).flatMap(Set::stream);
    }
  }

  /// @throws Refusal for anything but these options with their values, and for an option given
  ///     twice
  static Options parse(List<String> arguments, Names names) {
    var values = new LinkedHashMap<String, String>();
    var pairs = new LinkedHashMap<String, Map<String, String>>();
    for (Iterator<String> rest = arguments.iterator(); rest.hasNext(); ) {
      String argument = rest.next();
      if (!argument.startsWith("--")) {
        throw usage("'" + argument + "' is neither an option nor the value of one");
      }
      String name = argument.split("=", 2)[0];
      if (names.flags().contains(name)) {
        if (!argument.equals(name)) {
          throw usage(name + " takes no value");
        }
        once(values.put(name, ""), name);
      } else if (names.single().contains(name)) {
        once(values.put(name, valueOf(argument, rest)), name);
      } else if (names.pairs().contains(name)) {
        String[] pair = valueOf(argument, rest).split("=", 2);
        if (pair.length < 2 || pair[0].isEmpty()) {
          throw usage(name + " needs KEY=VALUE");
        }
        once(
            pairs.computeIfAbsent(name, any -> new LinkedHashMap<>()).put(pair[0], pair[1]),
            name + "=" + pair[0]);
      } else {
        throw usage("there is no option " + name + closest(name, names));
      }
    }
    return new Options(values, pairs);
  }

  private static String valueOf(String argument, Iterator<String> rest) {
    int equals = argument.indexOf('=');
    if (equals >= 0) {
      return argument.substring(equals + 1);
    }
    if (!rest.hasNext()) {
      throw usage(argument + " needs a value: " + argument + "=…");
    }
    return rest.next();
  }

  private static void once(@Nullable String former, String what) {
    if (former != null) {
      throw usage(what + " is given twice; give it once");
    }
  }

  Optional<String> value(String name) {
    return Optional.ofNullable(values.get(name));
  }

  /// The keys and values given to an option; empty without it.
  Map<String, String> pairs(String name) {
    return pairs.getOrDefault(name, Map.of());
  }

  String required(String name) {
    return value(name).orElseThrow(() -> usage(name + " is missing"));
  }

  boolean has(String flag) {
    return values.containsKey(flag);
  }

  static Refusal usage(String message) {
    return new Refusal(
        ExitCode.USAGE, message + (message.endsWith("?") ? "" : ".") + " See ./pushplanet help");
  }

  private static String closest(String wrong, Names names) {
    return names
        .all()
        .filter(name ->
            name.length() > 4
                && (name.contains(wrong) || wrong.contains(name) || sameLetters(name, wrong)))
        .findFirst()
        .map(name -> "; did you mean " + name + "?")
        .orElse("");
  }

  private static boolean sameLetters(String one, String other) {
    char[] a = one.toCharArray();
    char[] b = other.toCharArray();
    Arrays.sort(a);
    Arrays.sort(b);
    return Arrays.equals(a, b);
  }
}
