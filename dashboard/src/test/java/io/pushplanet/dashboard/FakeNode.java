package io.pushplanet.dashboard;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.lettuce.core.RedisClient;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.CopyOnWriteArrayList;

/// A connection manager as the dashboard sees it: a lease in Redis, and a management port that
/// gives figures and takes orders.
final class FakeNode implements AutoCloseable {
  final NodeId id;
  final List<String> orders = new CopyOnWriteArrayList<>();
  final List<String> passes = new CopyOnWriteArrayList<>();
  private final RunningDashboard dashboard;
  private final HttpServer server;
  private volatile String state = "OPEN";
  private volatile int answer = 202;
  private volatile String page = "";
  private volatile boolean stuck;

  FakeNode(RunningDashboard dashboard, String name) throws IOException {
    this.dashboard = dashboard;
    this.id = new NodeId(name);
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/node", this::handle);
    server.start();
    announce(server.getAddress().getPort());
  }

  /// A lease that outlasts every test.
  void announce(int managementPort) {
    directory(directory ->
        directory.heartbeat(
            new NodeLease(
                id,
                "127.0.0.1",
                1884,
                1883,
                managementPort,
                18_432,
                !state.equals("OPEN"),
                Instant.now().plusSeconds(300))));
  }

  void holds(DeviceKey device) {
    try (RedisLink redis = RedisLink.open(dashboard.bean(RedisClient.class))) {
      redis
          .connection()
          .sync()
          .set(SessionDirectory.key(device), System.currentTimeMillis() + "|" + id.value());
    }
  }

  void answering(int status) {
    answer = status;
  }

  /// The answer that it gives instead of its figures.
  void telling(String json) {
    page = json;
  }

  /// From now on its answers stop after the headers.
  void stuck() {
    stuck = true;
  }

  /// A port at which no process listens.
  void silent() {
    announce(1);
  }

  void state(String now) {
    state = now;
    announce(server.getAddress().getPort());
  }

  private void handle(HttpExchange exchange) throws IOException {
    String method = exchange.getRequestMethod();
    if (stuck) {
      exchange.sendResponseHeaders(200, 1_000);
      exchange.getResponseBody().flush();
      return;
    }
    if (method.equals("GET")) {
      reply(exchange, 200, page.isEmpty() ? page() : page);
      return;
    }
    orders.add(method + " " + exchange.getRequestURI());
    String who = exchange.getRequestHeaders().getFirst("Authorization");
    passes.add(who == null ? "" : who.replace("Bearer ", ""));
    if (answer < 300) {
      state(method.equals("POST") ? "MOVING" : "OPEN");
    }
    reply(exchange, answer, "{}");
  }

  private String page() {
    return """
    {"node":"%s","version":"1.4.0","sessions":%d,"connections":18432,"draining":%s,"something_new":1,
     "drain":{"state":"%s","per_second":500,"sessions_at_start":18432,"told":12000,"seconds_left":13,"started_at":null},
     "numbers":{"bytes_per_session":812,"connects_per_second":37.4,"connected":90210,
      "refused":{"bad_user_name_or_password":41,"server_busy":7},
      "turned_away":{"address_too_fast":1204,"address_failed_too_often":66},
      "in_flight":128,"published":1204455,"redelivered":312,
      "dropped":{"not_here":903,"timed_out":17,"queue_full":2},"dead_paths":29,"fenced":4,
      "loop_lag":{"count":9000,"mean_millis":0.4,"p50_millis":0.3,"p99_millis":2.2,"max_millis":9.0},
      "sweep":{"count":9000,"mean_millis":1.0,"p50_millis":0.9,"p99_millis":4.9,"max_millis":12.0},
      "connect":{"count":90210,"mean_millis":3.0,"p50_millis":2.5,"p99_millis":11.4,"max_millis":80.0},
      "takeover":{"count":31,"mean_millis":9.0,"p50_millis":7.7,"p99_millis":23.4,"max_millis":31.0},
      "publish_to_write":{"count":1204455,"mean_millis":0.3,"p50_millis":0.21,"p99_millis":1.8,"max_millis":40.0,"buckets":[%s]},
      "publish_to_ack":{"count":1203000,"mean_millis":80.0,"p50_millis":61.0,"p99_millis":412.0,"max_millis":2210.0,"buckets":[%s]}}}
    """
        .formatted(
            id,
            state.equals("OPEN") ? 18_432 : 6_432,
            !state.equals("OPEN"),
            state,
            buckets(
                0.065536, 20_110, 310_000, 520_345, 240_000, 80_000, 21_000, 8_000, 3_000, 1_500,
                500, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            buckets(
                1.048576, 0, 1_200, 9_800, 44_000, 121_000, 301_000, 420_000, 210_000, 70_000,
                20_000, 5_000, 995, 5, 0, 0, 0));
  }

  /// @param upToMillis the first bound; each bound is twice the one before it, and the last bucket
  ///     has none
  private static String buckets(double upToMillis, long... counts) {
    var json = new StringJoiner(",");
    double bound = upToMillis;
    for (int index = 0; index < counts.length - 1; index++) {
      json.add("{\"up_to_millis\":" + bound + ",\"count\":" + counts[index] + "}");
      bound *= 2;
    }
    return json.add("{\"up_to_millis\":null,\"count\":" + counts[counts.length - 1] + "}")
        .toString();
  }

  private static void reply(HttpExchange exchange, int status, String body) throws IOException {
    try (exchange) {
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private void directory(java.util.function.Consumer<SessionDirectory> use) {
    try (RedisLink redis = RedisLink.open(dashboard.bean(RedisClient.class))) {
      use.accept(new SessionDirectory(redis, Clock.systemUTC()));
    }
  }

  @Override
  public void close() {
    server.stop(0);
    directory(directory -> directory.leave(id));
  }
}
