package io.pushplanet.common.wire;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.ext.javatime.deser.DurationDeserializer;

/// Reads durations of whole seconds as [Duration#toString] writes them, by hand: each push has two,
/// and the JDK uses a regular expression. Any other form is left to Jackson.
final class DurationReader extends StdDeserializer<Duration> {
  private static final String BEGINNING = "PT";
  private static final String UNITS = "HMS";
  private static final int[] SECONDS = {3_600, 60, 1};

  /// Far below the range of a long.
  private static final int LONGEST = 16;

  DurationReader() {
    super(Duration.class);
  }

  @Override
  public Duration deserialize(JsonParser parser, DeserializationContext context) {
    Duration plain =
        parser.currentToken() == JsonToken.VALUE_STRING ? plain(parser.getString()) : null;
    return plain == null ? DurationDeserializer.INSTANCE.deserialize(parser, context) : plain;
  }

  /// @return null for another form
  static @Nullable Duration plain(String text) {
    if (!text.startsWith(BEGINNING) || text.length() > LONGEST) {
      return null;
    }
    long seconds = 0;
    long number = 0;
    int nextUnit = 0;
    boolean inNumber = false;
    for (int index = BEGINNING.length(); index < text.length(); index++) {
      int digit = text.charAt(index) - '0';
      if (digit >= 0 && digit <= 9) {
        number = 10 * number + digit;
        inNumber = true;
        continue;
      }
      int unit = UNITS.indexOf(text.charAt(index), nextUnit);
      if (unit < 0 || !inNumber) {
        return null;
      }
      seconds += number * SECONDS[unit];
      number = 0;
      nextUnit = unit + 1;
      inNumber = false;
    }
    return inNumber || nextUnit == 0 ? null : Duration.ofSeconds(seconds);
  }
}
