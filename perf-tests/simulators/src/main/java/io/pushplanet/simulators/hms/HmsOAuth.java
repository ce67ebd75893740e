package io.pushplanet.simulators.hms;

import io.pushplanet.simulators.server.AccessTokens;
import io.pushplanet.simulators.server.Reaction;
import io.pushplanet.simulators.server.Request;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.Optional;

/// Huawei's token endpoint, client credentials
/// (https://developer.huawei.com/consumer/en/doc/HMSCore-References/server-error-codes-0000001062371380).
///
/// Thread-safe.
final class HmsOAuth {
  private final HmsDirectory directory;
  private final AccessTokens tokens;

  HmsOAuth(HmsDirectory directory, Clock clock) {
    this.directory = directory;
    this.tokens = new AccessTokens(directory.accessSecret(), clock);
  }

  Reaction.Answer token(Request request) {
    if (!request.method().equals("POST")) {
      return Reaction.Answer.json(405, "{\"error\":405}");
    }
    String id = request.form("client_id").orElse("");
    if (!request.form("grant_type").orElse("").equals("client_credentials")) {
      return refusal(20_182, "invalid grant_type");
    }
    if (!HmsClient.ID.matcher(id).matches()) {
      return refusal(20_002, "invalid client_id");
    }
    HmsClient client = directory.client(id);
    if (client == null) {
      return refusal(20_003, "unknown client_id");
    }
    String secret = request.form("client_secret").orElse("");
    if (!MessageDigest.isEqual(bytes(secret), bytes(client.secret()))) {
      return refusal(12_304, "client_secret is wrong");
    }
    return tokens.granted(id);
  }

  Optional<AccessTokens.Claim> read(String accessToken) {
    return tokens.read(accessToken);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Reaction.Answer refusal(int subError, String description) {
    return Reaction.Answer.json(
        400,
        "{\"error\":1101,\"sub_error\":%d,\"error_description\":\"%s\"}"
            .formatted(subError, description));
  }
}
