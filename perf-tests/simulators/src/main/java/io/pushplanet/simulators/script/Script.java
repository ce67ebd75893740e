package io.pushplanet.simulators.script;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.simulators.ledger.Simulated;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/// The requested faults. The first line that matches a request decides its fate; lines for one
/// token come before lines for all.
///
/// Thread-safe.
public final class Script {
  private static final int MAX_LINES = 10_000;

  private final RandomGenerator random;
  private final Clock clock;

  @GuardedBy("this")
  private final List<Running> lines = new ArrayList<>();

  public Script(RandomGenerator random, Clock clock) {
    this.random = random;
    this.clock = clock;
  }

  /// A line and how often it matched.
  private static final class Running {
    final ScriptLine line;
    final Instant addedAt;
    long met;

    Running(ScriptLine line, Instant addedAt) {
      this.line = line;
      this.addedAt = addedAt;
    }

    boolean isOn(Instant now) {
      Duration since = Duration.between(addedAt, now);
      return since.compareTo(line.from()) >= 0 && since.compareTo(line.until()) < 0;
    }
  }

  /// Adds a line.
  public synchronized void add(ScriptLine line) {
    if (lines.size() == MAX_LINES) {
      throw new IllegalArgumentException(
          "There are " + MAX_LINES + " script lines already; clear them with DELETE /script");
    }
    int place = 0;
    if (line.token().isEmpty()) {
      place = lines.size();
    }
    lines.add(place, new Running(line, clock.instant()));
  }

  /// Removes all lines.
  public synchronized void clear() {
    lines.clear();
  }

  /// The lines still in force.
  public synchronized List<ScriptLine> lines() {
    return lines.stream().map(running -> running.line).toList();
  }

  /// The fate of this request, if a line matches it.
  public Optional<Fate> fate(Simulated provider, String token) {
    return fate(provider, List.of(token));
  }

  /// The same for a request to several devices: a line for one of them matches.
  public synchronized Optional<Fate> fate(Simulated provider, Collection<String> tokens) {
    if (lines.isEmpty()) {
      return Optional.empty();
    }
    Instant now = clock.instant();
    for (int i = 0; i < lines.size(); i++) {
      Running running = lines.get(i);
      ScriptLine line = running.line;
      if (line.provider() != provider
          || !(line.token().isEmpty() || tokens.contains(line.token()))
          || !running.isOn(now)) {
        continue;
      }
      running.met++;
      if (running.met <= line.skip()) {
        continue;
      }
      if (line.next() > 0 && running.met == (long) line.skip() + line.next()) {
        lines.remove(i--);
      }
      if ((running.met - line.skip()) % line.every() != 0) {
        continue;
      }
      if (line.percent() == 100 || random.nextDouble() * 100 < line.percent()) {
        return Optional.of(line.fate());
      }
    }
    return Optional.empty();
  }
}
