package io.pushplanet.cm.node;

import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.common.node.NodeFigures;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/// `GET /node` returns this node's figures to every client that reaches the port. `POST` and
/// `DELETE /node/drain` need a permission ([NodeOrders]).
@RestController
class NodePage {
  private static final Logger LOG = LoggerFactory.getLogger(NodePage.class);

  private final Node node;
  private final NodeOrders orders;
  private final NodeSettings settings;
  private final SessionTable sessions;
  private final Transport transport;
  private final NodeNumbers numbers;

  /// @param version of this build; absent where it runs from classes
  /// @param heapBytes of the whole process, garbage included
  record View(
      String node,
      @Nullable String version,
      int sessions,
      int connections,
      boolean draining,
      Drain.Progress drain,
      Map<String, Integer> ports,
      long unauthenticatedBytes,
      long heapBytes,
      NodeFigures numbers) {}

  NodePage(
      Node node,
      NodeOrders orders,
      NodeSettings settings,
      SessionTable sessions,
      Transport transport,
      NodeNumbers numbers) {
    this.node = node;
    this.orders = orders;
    this.settings = settings;
    this.sessions = sessions;
    this.transport = transport;
    this.numbers = numbers;
  }

  @GetMapping("/node")
  View node() {
    var runtime = Runtime.getRuntime();
    Drain.Progress drain = node.drain().progress();
    return new View(
        node.id().value(),
        NodePage.class.getPackage().getImplementationVersion(),
        sessions.size(),
        transport.connections(),
        drain.state() != Drain.State.OPEN,
        drain,
        transport.ports(),
        transport.unauthenticatedBytes(),
        runtime.totalMemory() - runtime.freeMemory(),
        numbers.now());
  }

  @PostMapping("/node/drain")
  ResponseEntity<Drain.Progress> drain(
      @RequestHeader(name = HttpHeaders.AUTHORIZATION, required = false)
          @Nullable String authorization,
      @RequestParam(name = "per-second", required = false) @Nullable Integer perSecond) {
    check(authorization, "drain");
    int rate = perSecond == null ? settings.drain().perSecond() : perSecond;
    if (rate < 1 || rate > Drain.MAX_PER_SECOND) {
      throw problem(
          HttpStatus.BAD_REQUEST, "per-second is a number from 1 to " + Drain.MAX_PER_SECOND);
    }
    return ResponseEntity.accepted().body(node.drain().begin(rate));
  }

  @DeleteMapping("/node/drain")
  Drain.Progress cancel(
      @RequestHeader(name = HttpHeaders.AUTHORIZATION, required = false)
          @Nullable String authorization) {
    check(authorization, "cancel_drain");
    return node.drain().cancel();
  }

  private void check(@Nullable String authorization, String order) {
    if (!orders.mayGive(authorization)) {
      LOG.warn("event=order_refused order={}", order);
      throw problem(
          HttpStatus.UNAUTHORIZED,
          "log in as cm.gateway-user with cm.gateway-password (HTTP Basic), or use the dashboard");
    }
  }

  private static ErrorResponseException problem(HttpStatus status, String detail) {
    return new ErrorResponseException(
        status, ProblemDetail.forStatusAndDetail(status, detail), null);
  }

  /// Asks for a Bearer pass and not for a password: a browser keeps a password that it asked for,
  /// and sends it with forged requests, too.
  @ExceptionHandler
  ResponseEntity<ProblemDetail> answer(ErrorResponseException problem) {
    ResponseEntity.BodyBuilder answer = ResponseEntity.status(problem.getStatusCode());
    if (problem.getStatusCode() == HttpStatus.UNAUTHORIZED) {
      answer.header(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
    }
    return answer.body(problem.getBody());
  }
}
