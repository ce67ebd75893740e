package io.pushplanet.common.settings;

import io.pushplanet.common.access.Secret;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/// Where the platform's servers are; the same in every process.
///
/// @param masterKey 32 random bytes in base64 (`openssl rand -base64 32`), the same in every
///     process: the root of sealed credentials and of device credentials
/// @param formerMasterKeys other master keys whose work is still accepted: during a change the next
///     one, after it the former one, until every credential is re-sealed and the longest-lived
///     device password has ended
@Validated
@ConfigurationProperties(prefix = "pushplanet", ignoreUnknownFields = false)
public record PlatformSettings(
    @Valid @NotNull @DefaultValue Mysql mysql,
    @Valid @NotNull @DefaultValue Redis redis,
    @Valid @NotNull @DefaultValue Amqp amqp,
    @NotNull(message = "pushplanet.master-key is missing: openssl rand -base64 32")
        Secret masterKey,
    @DefaultValue List<Secret> formerMasterKeys) {
  public PlatformSettings {
    formerMasterKeys = List.copyOf(formerMasterKeys);
  }

  /// @param url JDBC URL of MySQL, the authoritative store
  /// @param user MySQL user
  /// @param password password of `pushplanet.mysql.user`
  /// @param poolSize most connections of this process to MySQL
  /// @param answerWithin how long to wait for a statement before its connection is closed, and for
  ///     a lock two thirds of it; 2s or more. dispatcher-api has 5s unless set, because its callers
  ///     wait
  public record Mysql(
      @NotBlank @DefaultValue("jdbc:mysql://127.0.0.1:3306/pushplanet") String url,
      @NotBlank @DefaultValue("pushplanet") String user,
      @DefaultValue("") Secret password,
      @Positive @DefaultValue("10") int poolSize,
      @NotNull @DefaultValue("30s") Duration answerWithin) {
    private static final Duration SHORTEST_ANSWER = Duration.ofSeconds(2);

    public Mysql {
      if (answerWithin.compareTo(SHORTEST_ANSWER) < 0) {
        throw new IllegalArgumentException(
            "pushplanet.mysql.answer-within is "
                + SHORTEST_ANSWER
                + " or more, not "
                + answerWithin);
      }
    }

    /// Shorter than the driver's timeout: if the driver gave up the connection first, its session
    /// in MySQL would go on waiting and keep its locks.
    Duration lockWithin() {
      return Duration.ofSeconds(answerWithin.multipliedBy(2).dividedBy(3).toSeconds());
    }
  }

  /// @param uri Redis, for sessions and routes: `redis://:password@host:port`, or `rediss://` with
  ///     TLS
  public record Redis(@NotNull @DefaultValue("redis://127.0.0.1:6379") Secret uri) {
    public Redis {
      checkUri("pushplanet.redis.uri", uri, "redis://:password@host:port");
    }
  }

  /// @param uri RabbitMQ: `amqp://user:password@host:port/virtual-host`, or `amqps://` with TLS
  public record Amqp(@NotNull @DefaultValue("amqp://guest:guest@127.0.0.1:5672/%2f") Secret uri) {
    public Amqp {
      checkUri("pushplanet.amqp.uri", uri, "amqp://user:password@host:port/virtual-host");
    }
  }

  /// Tells neither the URI nor the cause, which may hold a password.
  private static void checkUri(String setting, Secret uri, String example) {
    try {
      String given = new URI(uri.reveal()).getScheme();
      if (given != null && given.startsWith(example.substring(0, example.indexOf(':')))) {
        return;
      }
    } catch (URISyntaxException _) {
      // Refused like a URI of another scheme.
    }
    throw new IllegalArgumentException(
        setting + " must be such as " + example + ", with special characters percent-encoded");
  }
}
