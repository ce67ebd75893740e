package io.pushplanet.simulators.script;

import io.pushplanet.simulators.ledger.Simulated;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// Faults in words, a line for each:
///
/// ```text
/// # which requests                    what becomes of them
/// apns after 100 next 1               goaway Shutdown
/// apns 1 in 100                       refuse
/// fcm  from 10s until 20s 5 %         answer 503 UNAVAILABLE retry-after 30s
/// apns token ab12                     answer 410 Unregistered
/// ```
///
/// The module's README has the whole grammar. A script that is not understood is refused as a
/// whole.
public final class Scenario {
  private final Deque<String> words;
  private final String line;

  private Scenario(String line) {
    this.line = line;
    this.words = new ArrayDeque<>(List.of(line.strip().split("\\s+")));
  }

  /// Reads a scenario.
  ///
  /// @throws IllegalArgumentException with the line that is wrong
  public static List<ScriptLine> parse(String text) {
    List<ScriptLine> lines = new ArrayList<>();
    for (String line : text.lines().toList()) {
      String said = line.replaceFirst("#.*", "").strip();
      if (!said.isEmpty()) {
        lines.add(new Scenario(said).line());
      }
    }
    return lines;
  }

  private ScriptLine line() {
    try {
      ScriptLine read = which();
      if (!words.isEmpty()) {
        throw new IllegalArgumentException("nothing is known of \"" + words.peek() + "\" here");
      }
      return read;
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("In \"" + line + "\": " + e.getMessage(), e);
    }
  }

  private ScriptLine which() {
    Simulated provider = Simulated.of(next("a provider"));
    String token = "";
    int skip = 0;
    int next = 0;
    int every = 1;
    double percent = 100;
    Duration from = Duration.ZERO;
    Duration until = ScriptLine.FOR_EVER;
    while (true) {
      String word = next("an action");
      switch (word) {
        case "token" -> token = next("a token");
        case "after" -> skip = number();
        case "next" -> next = number();
        case "from" -> from = duration();
        case "until" -> until = duration();
        default -> {
          if (!Character.isDigit(word.charAt(0))) {
            return new ScriptLine(
                provider, token, skip, next, every, percent, from, until, fate(word));
          }
          if (optional("in")) {
            every = oneIn(word);
          } else if (optional("%")) {
            percent = Double.parseDouble(word);
          } else {
            throw new IllegalArgumentException("after " + word + " comes \"in N\" or \"%\"");
          }
        }
      }
    }
  }

  private int oneIn(String one) {
    if (!one.equals("1")) {
      throw new IllegalArgumentException("say \"1 in N\"");
    }
    return number();
  }

  private Fate fate(String action) {
    Fate.Action wanted = ScriptLine.action(action);
    int status = 0;
    String reason = "";
    Duration delay = Duration.ZERO;
    switch (wanted) {
      case ANSWER, HTML -> {
        status = startsWithDigit() ? number() : 0;
        reason = startsWithCapital() || startsWithDigit() ? next("a reason") : "";
      }
      case TRICKLE -> {
        delay = duration();
        status = startsWithDigit() ? number() : 0;
        reason = startsWithCapital() || startsWithDigit() ? next("a reason") : "";
      }
      case GOAWAY -> reason = startsWithCapital() ? next("a reason") : "";
      case STREAMS, CERTIFICATE -> reason = next("what it changes to");
      case SILENCE, RESET, REFUSE, DROP -> {}
    }
    Fate fate =
        new Fate(wanted, status, reason, Duration.ZERO, delay, 0, wanted == Fate.Action.GOAWAY);
    while (!words.isEmpty()) {
      fate =
          switch (next("")) {
            case "delay" -> fate.after(duration());
            case "retry-after" -> fate.retryAfter(duration());
            case "timestamp" -> fate.since(Long.parseLong(next("epoch milliseconds")));
            case "delivered" -> fate.butDelivered();
            case String other ->
                throw new IllegalArgumentException("nothing is known of \"" + other + "\" here");
          };
    }
    return fate;
  }

  private String next(String what) {
    String word = words.poll();
    if (word == null) {
      throw new IllegalArgumentException(what + " is missing");
    }
    return word;
  }

  private boolean optional(String word) {
    boolean there = word.equals(words.peek());
    if (there) {
      words.remove();
    }
    return there;
  }

  private boolean startsWithDigit() {
    String word = words.peek();
    return word != null && Character.isDigit(word.charAt(0));
  }

  private boolean startsWithCapital() {
    String word = words.peek();
    return word != null && Character.isUpperCase(word.charAt(0));
  }

  private int number() {
    return Integer.parseInt(next("a number"));
  }

  private Duration duration() {
    return Durations.parse(next("a duration"));
  }
}
