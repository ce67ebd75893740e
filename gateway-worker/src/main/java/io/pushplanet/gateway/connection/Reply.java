package io.pushplanet.gateway.connection;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// How a request ended.
public sealed interface Reply {
  /// The provider answered.
  ///
  /// @param headers names in lower case, the first value of each
  /// @param body at most 64 KB of it
  record Answered(int status, Map<String, String> headers, byte[] body) implements Reply {
    public Answered {
      headers = Map.copyOf(headers);
    }

    public Optional<String> header(String name) {
      return Optional.ofNullable(headers.get(name.toLowerCase(Locale.ROOT)));
    }

    @Override
    public String toString() {
      return "Answered[" + status + "]";
    }
  }

  /// The provider cannot have acted on the request: it was never written, or the provider said that
  /// it did not look at it.
  record NotSent(String why) implements Reply {}

  /// The request was written and no answer came: the provider may have acted on it.
  record NoAnswer(String why) implements Reply {}

  /// The message expired before the request could be written.
  record Expired() implements Reply {}
}
