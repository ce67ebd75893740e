package io.pushplanet.load.node;

import io.pushplanet.load.client.HttpConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/// A program's Prometheus page at one moment: a value for each series, by its name and tags as
/// written there.
public record Meters(Map<String, Double> series) {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(20);

  public Meters {
    series = new LinkedHashMap<>(series);
  }

  /// Reads the page of the program with this management port.
  ///
  /// @param names of the series; none: all
  public static Meters of(int managementPort, String... names) {
    URI server = URI.create("http://127.0.0.1:" + managementPort);
    try (HttpConnection connection = new HttpConnection(server, ANSWER_WITHIN)) {
      return parse(
          connection
              .exchange(HttpConnection.request("GET", server, path(names), "", new byte[0]))
              .text());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the meters of " + server, e);
    }
  }

  private static String path(String... names) {
    String page = "/actuator/prometheus";
    // The filter takes a counter's name without its ending.
    return names.length == 0
        ? page
        : page + "?includedNames=" + String.join(",", names).replace("_total", "");
  }

  static Meters parse(String page) {
    Map<String, Double> series = new LinkedHashMap<>();
    page.lines()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .forEach(line -> {
          int value = line.lastIndexOf(' ');
          series.put(line.substring(0, value), Double.parseDouble(line.substring(value + 1)));
        });
    return new Meters(series);
  }

  /// The sum of all series of this name that have all these tags, each written `name="value"`.
  public double sum(String name, String... tags) {
    return series.entrySet().stream()
        .filter(one -> matches(one.getKey(), name, tags))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }

  /// The upper end, in seconds, of the histogram's bucket that contains this quantile of the values
  /// since then.
  public double quantileSince(Meters then, double share, String name, String... tags) {
    Map<Double, Double> counts = new TreeMap<>();
    series.forEach((key, value) -> {
      if (matches(key, name + "_bucket", tags)) {
        int from = key.indexOf("le=\"") + 4;
        String end = key.substring(from, key.indexOf('"', from));
        double seconds = end.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(end);
        counts.merge(seconds, value - then.series.getOrDefault(key, 0.0), Double::sum);
      }
    });
    double all = counts.getOrDefault(Double.POSITIVE_INFINITY, 0.0);
    return counts.entrySet().stream()
        .filter(bucket -> all > 0 && bucket.getValue() >= share * all)
        .mapToDouble(Map.Entry::getKey)
        .findFirst()
        .orElse(0);
  }

  private static boolean matches(String key, String name, String... tags) {
    if (!key.equals(name) && !key.startsWith(name + "{")) {
      return false;
    }
    for (String tag : tags) {
      if (!key.contains(tag)) {
        return false;
      }
    }
    return true;
  }
}
