package io.pushplanet.simulators.state;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/// A list of records in a file of JSON. For one thread at a time.
public record StateFile(Path path) {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final int SECRET_BYTES = 32;

  /// The records; none without the file.
  public <T> List<T> read(Class<T[]> type) {
    return Files.exists(path) ? List.of(JSON.readValue(path.toFile(), type)) : List.of();
  }

  /// Replaces the file as a whole, so that killed simulators leave either the old or the new one.
  public void write(Collection<?> records) {
    try {
      Path draft = path.resolveSibling(path.getFileName() + ".new");
      Files.write(draft, JSON.writeValueAsBytes(List.copyOf(records)));
      Files.move(draft, path, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write " + path, e);
    }
  }

  /// The random bytes in a file, which the first start makes.
  public static byte[] secret(Path file) {
    try {
      if (!Files.exists(file)) {
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, secret);
      }
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot keep the secret " + file, e);
    }
  }
}
