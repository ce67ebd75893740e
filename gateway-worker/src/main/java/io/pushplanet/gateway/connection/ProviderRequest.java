package io.pushplanet.gateway.connection;

import io.pushplanet.common.message.Priority;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One POST of JSON.
///
/// @param priority a request of high priority does not wait for a stream behind normal ones
/// @param expiresAt past it the request is not written any more; null = never
public record ProviderRequest(
    Priority priority, String path, List<Field> headers, byte[] body, @Nullable Instant expiresAt) {
  public ProviderRequest {
    headers = List.copyOf(headers);
  }

  /// A header.
  ///
  /// @param secret kept out of HPACK's tables, here and at every intermediary (RFC 7541, section
  ///     7.1.3)
  public record Field(String name, String value, boolean secret) {
    public static Field of(String name, String value) {
      return new Field(name, value, false);
    }

    public static Field secret(String name, String value) {
      return new Field(name, value, true);
    }

    @Override
    public String toString() {
      return name + "=" + (secret ? "***" : value);
    }
  }

  @Override
  public String toString() {
    return "ProviderRequest[" + body.length + " bytes]";
  }
}
