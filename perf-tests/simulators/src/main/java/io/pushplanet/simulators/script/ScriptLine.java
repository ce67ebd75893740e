package io.pushplanet.simulators.script;

import io.pushplanet.simulators.ledger.Simulated;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/// A rule that gives requests a fate.
///
/// @param token only requests to this device token; empty: all
/// @param skip this number of matching requests passes first
/// @param next then this number meets the fate; 0: all that follow
/// @param every of those, the last one in each group of this size; 1: all
/// @param percent of those, this share, 0 to 100, by chance
/// @param from not before this time after the line was added; earlier requests do not count
/// @param until not after this time
public record ScriptLine(
    Simulated provider,
    String token,
    int skip,
    int next,
    int every,
    double percent,
    Duration from,
    Duration until,
    Fate fate) {
  static final Duration FOR_EVER = Duration.ofDays(36_500);

  private static final Set<String> FIELDS =
      Set.of(
          "provider",
          "token",
          "skip",
          "next",
          "every",
          "percent",
          "from",
          "until",
          "action",
          "status",
          "reason",
          "retry_after",
          "delay",
          "timestamp",
          "delivered");

  public ScriptLine {
    if (skip < 0 || next < 0 || every < 1) {
      throw new IllegalArgumentException(
          "skip and next must not be negative, every must be at least 1");
    }
    if (from.isNegative() || until.compareTo(from) <= 0) {
      throw new IllegalArgumentException("until must be later than from");
    }
    if (!(percent > 0 && percent <= 100)) {
      throw new IllegalArgumentException("percent must be more than 0 and at most 100");
    }
  }

  /// At any time.
  public ScriptLine(
      Simulated provider, String token, int skip, int next, double percent, Fate fate) {
    this(provider, token, skip, next, 1, percent, Duration.ZERO, FOR_EVER, fate);
  }

  /// Every request to `provider` meets the fate.
  public static ScriptLine always(Simulated provider, Fate fate) {
    return new ScriptLine(provider, "", 0, 0, 100, fate);
  }

  /// The next `n` requests meet the fate.
  public static ScriptLine next(Simulated provider, int n, Fate fate) {
    return new ScriptLine(provider, "", 0, n, 100, fate);
  }

  /// Every request to one device token meets the fate.
  public static ScriptLine token(Simulated provider, String token, Fate fate) {
    return new ScriptLine(provider, token, 0, 0, 100, fate);
  }

  /// Reads the JSON form of `POST /script`.
  public static ScriptLine of(JsonNode json) {
    for (String name : json.propertyNames()) {
      if (!FIELDS.contains(name)) {
        throw new IllegalArgumentException("\"" + name + "\" is unknown; known: " + FIELDS);
      }
    }
    Fate.Action action = action(json.path("action").asString("answer"));
    return new ScriptLine(
        Simulated.of(json.path("provider").asString("")),
        json.path("token").asString(""),
        json.path("skip").asInt(0),
        json.path("next").asInt(0),
        json.path("every").asInt(1),
        json.path("percent").asDouble(100),
        duration(json.path("from")),
        json.has("until") ? duration(json.path("until")) : FOR_EVER,
        new Fate(
            action,
            json.path("status").asInt(0),
            json.path("reason").asString(""),
            duration(json.path("retry_after")),
            duration(json.path("delay")),
            json.path("timestamp").asLong(0),
            json.path("delivered").asBoolean(action == Fate.Action.GOAWAY)));
  }

  static Fate.Action action(String name) {
    try {
      return Fate.Action.valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      List<String> known =
          Arrays.stream(Fate.Action.values()).map(a -> a.name().toLowerCase(Locale.ROOT)).toList();
      throw new IllegalArgumentException("\"" + name + "\" is no action: use one of " + known, e);
    }
  }

  private static Duration duration(JsonNode json) {
    return json.isMissingNode() || json.isNull() ? Duration.ZERO : Durations.parse(json.asString());
  }
}
