package io.pushplanet.quickstart.platform;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.access.MasterKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/// A platform's secrets, made at its first `up`: `.pushplanet/secrets.json`.
record Secrets(
    String masterKey,
    String gatewayPassword,
    String operatorUser,
    String operatorPassword,
    String apiKey) {
  private static final JsonMapper JSON =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  static Secrets in(Path state, SecureRandom random) {
    Path file = state.resolve("secrets.json");
    if (Files.exists(file)) {
      return JSON.readValue(file.toFile(), Secrets.class);
    }
    var secrets =
        new Secrets(
            MasterKey.generate(random),
            password(random),
            "admin",
            password(random),
            ApiKey.generate(random).text().reveal());
    OwnerOnlyFile.write(
        file, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(secrets) + "\n");
    return secrets;
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
