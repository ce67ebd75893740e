package io.pushplanet.quickstart.platform;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/// `.pushplanet/quickstart.json`: the addresses that `up` prints, for programs. It exists while the
/// platform is up.
public final class AddressFile {
  public static final String NAME = "quickstart.json";

  private static final JsonMapper JSON =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  private AddressFile() {}

  /// Replaces the file atomically: a reader sees the old file or the new one.
  static void write(Path state, Addresses addresses) {
    OwnerOnlyFile.write(
        state.resolve(NAME),
        JSON.writerWithDefaultPrettyPrinter().writeValueAsString(addresses) + "\n");
  }

  /// @return empty when no platform of this build is up with this state directory
  public static Optional<Addresses> read(Path state) {
    Path file = state.resolve(NAME);
    try {
      return Files.exists(file)
          ? Optional.of(JSON.readValue(file.toFile(), Addresses.class))
          : Optional.empty();
    } catch (JacksonException otherFields) {
      // An older build may have left it behind.
      return Optional.empty();
    }
  }

  public static void delete(Path state) {
    try {
      Files.deleteIfExists(state.resolve(NAME));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + state.resolve(NAME), e);
    }
  }
}
