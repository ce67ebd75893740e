package io.pushplanet.quickstart.platform;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.access.MasterKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/// A platform's secrets, made at its first `up`: `.pushplanet/secrets.json`.
///
/// @param operatorPassword empty when the database was older, and has operators of its own
record Secrets(
    String masterKey,
    String gatewayPassword,
    String operatorUser,
    String operatorPassword,
    String apiKey) {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .build();

  /// @return empty before the first `up`
  /// @throws StartRefused when they are damaged
  static Optional<Secrets> kept(Path state) {
    Path file = file(state);
    try {
      return Files.exists(file)
          ? Optional.of(JSON.readValue(file.toFile(), Secrets.class))
          : Optional.empty();
    } catch (JacksonException e) {
      throw new StartRefused(
          StartRefused.Reason.STATE_UNUSABLE,
          file + " cannot be read: restore it, or start with a new --state");
    }
  }

  /// @param hasOperators whether the dashboard has operators already, and so takes no first one
  static Secrets make(Path state, SecureRandom random, boolean hasOperators) {
    var secrets =
        new Secrets(
            MasterKey.generate(random),
            password(random),
            "admin",
            hasOperators ? "" : password(random),
            ApiKey.generate(random).text().reveal());
    OwnerOnlyFile.write(
        file(state), JSON.writerWithDefaultPrettyPrinter().writeValueAsString(secrets) + "\n");
    return secrets;
  }

  private static Path file(Path state) {
    return state.resolve("secrets.json");
  }

  private static String password(SecureRandom random) {
    byte[] bytes = new byte[15];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  @Override
  public String toString() {
    return "Secrets[***]";
  }
}
