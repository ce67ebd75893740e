package io.pushplanet.common.redis;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// A Lua script for [RedisLink#run] with its digest.
///
/// @param digest SHA-1 of the text, as EVALSHA wants it
///     (https://redis.io/docs/latest/commands/evalsha/)
public record Script(String text, String digest) {
  public static Script of(String text) {
    try {
      MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
      return new Script(
          text, HexFormat.of().formatHex(sha1.digest(text.getBytes(StandardCharsets.UTF_8))));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
