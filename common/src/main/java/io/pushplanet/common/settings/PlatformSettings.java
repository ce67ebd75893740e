package io.pushplanet.common.settings;

import io.pushplanet.common.access.Secret;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Where the platform's servers are; the same in every process.
///
/// @param masterKey 32 bytes in base64 (`openssl rand -base64 32`), the same in every process
@Validated
@ConfigurationProperties(prefix = "pushplanet", ignoreUnknownFields = false)
public record PlatformSettings(
    @Valid @NotNull @DefaultValue Mysql mysql,
    @Valid @NotNull @DefaultValue Redis redis,
    @Valid @NotNull @DefaultValue Amqp amqp,
    @NotNull Secret masterKey) {

  public record Mysql(
      @NotBlank @DefaultValue("jdbc:mysql://127.0.0.1:3306/pushplanet") String url,
      @NotBlank @DefaultValue("pushplanet") String user,
      @DefaultValue("") Secret password,
      @Positive @DefaultValue("10") int poolSize) {}

  public record Redis(@NotNull @DefaultValue("redis://127.0.0.1:6379") Secret uri) {}

  public record Amqp(@NotNull @DefaultValue("amqp://guest:guest@127.0.0.1:5672/%2f") Secret uri) {}
}
