package io.pushplanet.dashboard.node;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.node.NodePass;
import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.WireForm;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// Asks the management ports of nodes for their figures, and orders drains. Thread-safe; waits
/// [#PATIENCE] at most.
@Component
class NodeManagement {
  private static final Logger LOG = LoggerFactory.getLogger(NodeManagement.class);
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final NodePass passes;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(PATIENCE).build();

  NodeManagement(MasterKey masterKey, Clock clock) {
    this.passes = new NodePass(masterKey, clock);
  }

  /// The figures of every node that answers. All nodes are asked at the same time.
  Map<NodeId, NodeAnswer> figures(List<NodeLease> nodes) {
    Map<NodeId, CompletableFuture<HttpResponse<byte[]>>> asked = new HashMap<>();
    for (var node : nodes) {
      request(node, "/node")
          .ifPresent(request ->
              asked.put(
                  node.node(), http.sendAsync(request.GET().build(), BodyHandlers.ofByteArray())));
    }
    Map<NodeId, NodeAnswer> figures = new HashMap<>();
    long endNanos = System.nanoTime() + PATIENCE.toNanos();
    asked.forEach(
        (node, answer) -> read(answer, endNanos).ifPresent(read -> figures.put(node, read)));
    return figures;
  }

  private static Optional<NodeAnswer> read(
      CompletableFuture<HttpResponse<byte[]>> answer, long endNanos) {
    try {
      byte[] body = await(answer, endNanos - System.nanoTime()).body();
      return Optional.ofNullable(WireForm.read(body, NodeAnswer.class));
    } catch (IOException | MalformedWire unknown) {
      return Optional.empty();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  /// The timeout of the request itself ends when the headers have come. This also gives up a node
  /// that stops in the middle of its answer.
  private static <T> T await(CompletableFuture<T> answer, long nanos)
      throws IOException, InterruptedException {
    try {
      return answer.get(nanos, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException away) {
      answer.cancel(true);
      throw new IOException(away);
    }
  }

  /// @return the failure, in words for the operator; empty when the node has begun
  Optional<String> drain(NodeLease node, int perSecond) {
    return order(node, "POST", "/node/drain?per-second=" + perSecond);
  }

  /// @return the failure, in words for the operator; empty when devices may connect again
  Optional<String> cancelDrain(NodeLease node) {
    return order(node, "DELETE", "/node/drain");
  }

  private Optional<String> order(NodeLease node, String method, String path) {
    var request = request(node, path);
    if (request.isEmpty()) {
      return Optional.of("The node has not announced the address of its management port.");
    }
    try {
      var answer =
          await(
              http.sendAsync(
                  request
                      .get()
                      .method(method, BodyPublishers.noBody())
                      .header("Authorization", "Bearer " + passes.mint(node.node()))
                      .build(),
                  BodyHandlers.discarding()),
              PATIENCE.toNanos());
      return switch (answer.statusCode()) {
        case 200, 202 -> Optional.empty();
        case 401 ->
            Optional.of(
                "The node refused: it has another pushplanet.master-key, or its clock is wrong.");
        default -> Optional.of("The node answered " + answer.statusCode() + ".");
      };
    } catch (IOException away) {
      LOG.warn("event=node_order_failed node={} reason=\"{}\"", node.node(), away.toString());
      return Optional.of(
          "The node does not answer at "
              + node.host()
              + ":"
              + node.managementPort()
              + ". As far as is known, nothing was changed.");
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return Optional.of("The dashboard is stopping.");
    }
  }

  private static Optional<HttpRequest.Builder> request(NodeLease node, String path) {
    if (node.managementPort() == 0) {
      return Optional.empty();
    }
    try {
      var address = URI.create("http://" + node.host() + ":" + node.managementPort() + path);
      return Optional.of(HttpRequest.newBuilder(address).timeout(PATIENCE));
    } catch (IllegalArgumentException strange) {
      return Optional.empty();
    }
  }
}
