package io.pushplanet.quickstart.platform;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The words behind a command: `--name=value`, `--name value`, flags `--name`, and plain words in their order.
record Options(Map<String, String> values, List<String> words) {

  Options {
    values = Map.copyOf(values);
    words = List.copyOf(words);
  }

  /// @param flags options that take no value
  /// @param named options that take one
  static Options parse(List<String> arguments, Set<String> flags, Set<String> named) {
    var values = new LinkedHashMap<String, String>();
    var words = new java.util.ArrayList<String>();
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (!argument.startsWith("--")) {
        words.add(argument);
        continue;
      }
      int equals = argument.indexOf('=');
      String name = equals < 0 ? argument : argument.substring(0, equals);
      if (flags.contains(name)) {
        if (equals >= 0) {
          throw usage(name + " takes no value");
        }
        values.put(name, "true");
      } else if (named.contains(name)) {
        if (equals < 0 && ++i == arguments.size()) {
          throw usage(name + " needs a value: " + name + "=…");
        }
        values.put(name, equals < 0 ? arguments.get(i) : argument.substring(equals + 1));
      } else {
        throw usage("there is no option " + name + closest(name, flags, named));
      }
    }
    return new Options(values, words);
  }

  Optional<String> value(String name) {
    return Optional.ofNullable(values.get(name));
  }

  String required(String name) {
    return value(name).orElseThrow(() -> usage(name + " is missing"));
  }

  boolean has(String flag) {
    return values.containsKey(flag);
  }

  static Refusal usage(String message) {
    return new Refusal(ExitCode.USAGE, message + ". See ./pushplanet help");
  }

  private static String closest(String wrong, Set<String> flags, Set<String> named) {
    return java.util.stream.Stream.concat(flags.stream(), named.stream())
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
