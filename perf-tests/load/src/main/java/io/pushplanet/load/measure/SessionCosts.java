package io.pushplanet.load.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// The cost of sessions for one server.
///
/// @param memory with a growing number of idle, subscribed sessions
/// @param idle with a growing number of them, without traffic
/// @param pingMicros processor time per ping
/// @param connectMicros the same per connect with log-in and SUBSCRIBE
public record SessionCosts(
    List<SessionMeter.Memory> memory,
    List<SessionMeter.Idle> idle,
    double pingMicros,
    double connectMicros,
    SessionMeter.Messages unacknowledged,
    SessionMeter.Messages acknowledged) {
  private static final double KEEP_ALIVE_SECONDS = 300;
  // A million times the microseconds in each second.
  private static final double PERCENT_FOR_A_MILLION = 100;

  public SessionCosts {
    memory = List.copyOf(memory);
    idle = List.copyOf(idle);
  }

  /// One figure of all servers: ours first, with the best of the others and our goal beside it.
  public static List<Report.Row> rows(Map<String, SessionCosts> costs, String ours) {
    List<Report.Row> rows = new ArrayList<>();
    costs.values().stream()
        .findFirst()
        .ifPresent(first -> {
          int few = first.memory.getFirst().sessions();
          int many = first.memory.getLast().sessions();
          String slope = String.format(Locale.ROOT, " (slope %d to %d)", few, many);
          add(
              rows,
              costs,
              ours,
              "memory per session" + slope,
              "bytes",
              1_000.0,
              SessionCosts::bytesPerSession);
          costs.forEach((server, cost) ->
              rows.add(
                  Report.Row.of(
                      (cost.isJvm() ? "resident beside the heap" : "resident")
                          + " per session"
                          + slope
                          + ": "
                          + server,
                      "bytes",
                      cost.residentPerSession())));
          add(
              rows,
              costs,
              ours,
              "CPU per connect + log-in + subscribe",
              "us",
              45.0,
              SessionCosts::connectMicros);
          add(
              rows,
              costs,
              ours,
              "CPU per QoS 0 fan-out message",
              "us",
              12.0,
              cost -> cost.unacknowledged.fanOut());
          add(
              rows,
              costs,
              ours,
              "CPU per acked QoS 1 fan-out message",
              "us",
              20.0,
              cost -> cost.acknowledged.fanOut());
          addSingle(rows, costs, "CPU per QoS 0 message to a single device", c -> c.unacknowledged);
          addSingle(
              rows, costs, "CPU per acked QoS 1 message to a single device", c -> c.acknowledged);
          add(rows, costs, ours, "CPU per ping", "us", null, SessionCosts::pingMicros);
          add(
              rows,
              costs,
              ours,
              "of a core for the pings of 1M sessions, each 300 s",
              "%",
              5.0,
              SessionCosts::pingsOfAMillionPercent);
          add(
              rows,
              costs,
              ours,
              "of a core for 1M sessions while nothing happens" + slope,
              "%",
              null,
              SessionCosts::idleMillionPercent);
          add(
              rows,
              costs,
              ours,
              "of a core while nothing happens, " + many + " sessions",
              "%",
              null,
              SessionCosts::idlePercent);
        });
    return rows;
  }

  private static void addSingle(
      List<Report.Row> rows,
      Map<String, SessionCosts> costs,
      String metric,
      Function<SessionCosts, SessionMeter.Messages> messages) {
    costs.forEach((server, cost) ->
        messages
            .apply(cost)
            .single()
            .ifPresent(micros -> rows.add(Report.Row.of(metric + ": " + server, "us", micros))));
  }

  private static void add(
      List<Report.Row> rows,
      Map<String, SessionCosts> costs,
      String ours,
      String metric,
      String unit,
      @Nullable Double goal,
      ToDoubleFunction<SessionCosts> figure) {
    OptionalDouble best =
        costs.entrySet().stream()
            .filter(server -> !server.getKey().equals(ours))
            .mapToDouble(server -> figure.applyAsDouble(server.getValue()))
            .min();
    costs.forEach((server, cost) -> {
      boolean isOurs = server.equals(ours);
      double value = hundredths(figure.applyAsDouble(cost));
      Double peer = isOurs && best.isPresent() ? (Double) hundredths(best.getAsDouble()) : null;
      rows.add(new Report.Row(metric + ": " + server, unit, value, peer, isOurs ? goal : null));
    });
  }

  private static double hundredths(double value) {
    return Math.round(value * 100) / 100.0;
  }

  /// Live heap and direct buffers; the resident memory of a server without a JVM.
  double bytesPerSession() {
    return isJvm()
        ? SessionMeter.Memory.slope(memory, SessionMeter.Memory::heapBytes)
        : residentPerSession();
  }

  private boolean isJvm() {
    return memory.getLast().heapBytes() > 0;
  }

  /// The whole heap of a JVM is resident from the start, so this is the growth outside of it.
  double residentPerSession() {
    return SessionMeter.Memory.slope(memory, SessionMeter.Memory::residentBytes);
  }

  double pingsOfAMillionPercent() {
    return pingMicros / KEEP_ALIVE_SECONDS * PERCENT_FOR_A_MILLION;
  }

  /// The processor time of each further session, for a million of them; the rest belongs to the
  /// process itself, independent of the sessions.
  double idleMillionPercent() {
    var few = idle.getFirst();
    var many = idle.getLast();
    double microsEach = (many.micros() - few.micros()) / (many.sessions() - few.sessions());
    return microsEach * PERCENT_FOR_A_MILLION;
  }

  double idlePercent() {
    return idle.getLast().micros() / 1e6 * 100;
  }
}
