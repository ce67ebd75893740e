package io.pushplanet.cm.node;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodePass;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/// Decides which requests on the management port may change the node, while every request may read:
/// the dashboard's with a [NodePass], and those with the gateways' user and password. Thread-safe.
final class NodeOrders {
  private static final String BEARER = "Bearer ";
  private static final String BASIC = "Basic ";

  private final NodeId node;
  private final NodePass passes;
  private final String user;
  private final Secret password;

  NodeOrders(NodeId node, NodePass passes, String user, Secret password) {
    this.node = node;
    this.passes = passes;
    this.user = user;
    this.password = password;
  }

  /// @param authorization the request's header
  boolean mayGive(@Nullable String authorization) {
    if (authorization == null) {
      return false;
    }
    if (authorization.startsWith(BEARER)) {
      return passes.isValid(node, authorization.substring(BEARER.length()));
    }
    return authorization.startsWith(BASIC) && isPassword(authorization.substring(BASIC.length()));
  }

  private boolean isPassword(String encoded) {
    byte[] given;
    try {
      given = Base64.getDecoder().decode(encoded);
    } catch (IllegalArgumentException rubbish) {
      return false;
    }
    byte[] expected = (user + ":" + password.reveal()).getBytes(StandardCharsets.UTF_8);
    return MessageDigest.isEqual(expected, given);
  }
}
