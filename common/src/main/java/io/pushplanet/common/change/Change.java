package io.pushplanet.common.change;

import io.pushplanet.common.message.AppId;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// A row of `changes`.
///
/// @param subject the id of the row that changed
public record Change(long id, Kind kind, AppId app, String subject) {
  public enum Kind {
    APP,
    API_KEY,
    CREDENTIAL;

    /// As it is stored.
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /// @return empty for the word of a newer version
    static Optional<Kind> of(String word) {
      return Arrays.stream(values()).filter(kind -> kind.word().equals(word)).findFirst();
    }
  }
}
