package io.pushplanet.simulators.webpush;

import io.pushplanet.simulators.ledger.Ledger;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Faults;
import io.pushplanet.simulators.script.Script;
import io.pushplanet.simulators.server.Endpoint;
import io.pushplanet.simulators.server.Reaction;
import io.pushplanet.simulators.server.Request;
import io.pushplanet.simulators.server.Request.Header;
import io.pushplanet.simulators.server.SimulatorServer;
import io.pushplanet.simulators.tls.Authority;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.StringNode;

/// A push service (RFC 8030) that also decrypts each message as the browser would, over HTTP/2 or
/// HTTP/1.1 with TLS. It refuses a message that a browser could not decrypt with 400, where a real
/// push service would accept it.
///
/// Thread-safe.
public final class WebPushSimulator implements AutoCloseable {
  /// RFC 8030, section 7.2: a push service takes at least 4,096 bytes; those in use take no more.
  private static final int LARGEST_BODY = 4_096;

  private static final Pattern TTL = Pattern.compile("[0-9]{1,10}");

  /// RFC 8030, section 5.4.
  private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9_-]{1,32}");

  /// RFC 8030, section 5.3.
  private static final Set<String> URGENCIES = Set.of("very-low", "low", "normal", "high");

  private static final List<String> TOLD = List.of("ttl", "urgency", "topic");
  private static final JsonMapper JSON = JsonMapper.shared();

  /// The streams of a connection, the minimum that RFC 9113 recommends.
  private static final int STREAMS = 100;

  private final WebPushDirectory directory;
  private final Vapid vapid;
  private final Ledger ledger;
  private final Script script;
  private final Faults faults;
  private final SimulatorServer server;
  private final AtomicLong lastMessage = new AtomicLong();

  /// Starts listening; port 0 takes a free one.
  public WebPushSimulator(
      InetSocketAddress address,
      WebPushDirectory directory,
      Authority authority,
      Ledger ledger,
      Script script,
      Clock clock) {
    this.directory = directory;
    this.vapid = new Vapid(clock);
    this.ledger = ledger;
    this.script = script;
    this.faults = new Faults(authority, STREAMS);
    this.server = SimulatorServer.overTls(address, authority, true, client -> new Conversation());
  }

  /// The port it listens on.
  public int port() {
    return server.port();
  }

  /// The origin that senders name as `aud`.
  public String origin() {
    return "https://localhost:" + port();
  }

  /// A subscription in the form in which a browser hands it to its page
  /// (https://www.w3.org/TR/push-api/#dom-pushsubscription-tojson).
  public String toJson(Subscription subscription) {
    var json = JSON.createObjectNode().put("endpoint", origin() + "/push/" + subscription.id());
    json.putNull("expirationTime");
    json.putObject("keys").put("p256dh", subscription.p256dh()).put("auth", subscription.auth());
    return json.toString();
  }

  @Override
  public void close() {
    server.close();
  }

  private final class Conversation implements Endpoint.Conversation {
    @Override
    public Reaction answer(Request request) {
      return WebPushSimulator.this.answer(request);
    }

    @Override
    public int allowedStreams() {
      return faults.streams();
    }
  }

  /// A request that broke no rule.
  private record Attempt(String id, Map<String, String> headers, JsonNode message) {}

  private Reaction answer(Request request) {
    List<String> path = request.segments();
    if (path.size() != 2 || !path.get(0).equals("push")) {
      return error(404, "no such path");
    }
    String id = path.get(1);
    if (!request.method().equals("POST")) {
      return refused(id, request, 405, "method not allowed");
    }
    Subscription subscription = directory.find(id);
    if (subscription == null) {
      return refused(id, request, 404, "no such subscription");
    }
    if (directory.isGone(id)) {
      return refused(id, request, 410, "gone");
    }
    String objection = objection(request);
    if (objection != null) {
      return refused(id, request, 400, objection);
    }
    Vapid.Verdict verdict = vapid.judge(request.header("authorization"), origin(), subscription);
    if (verdict instanceof Vapid.Verdict.Bad(int status, String reason)) {
      return refused(id, request, status, reason);
    }
    if (request.body().length > LARGEST_BODY) {
      return refused(id, request, 413, "payload too large");
    }
    JsonNode message;
    try {
      message = message(subscription, request);
    } catch (GeneralSecurityException e) {
      return refused(id, request, 400, "does not open: " + e.getMessage());
    }
    Attempt attempt = new Attempt(id, headers(request), message);
    return script
        .fate(Simulated.WEBPUSH, id)
        .map(fate -> met(fate, attempt))
        .orElseGet(() -> accepted(attempt));
  }

  /// The fault of the headers, null for none.
  private static @Nullable String objection(Request request) {
    if (!TTL.matcher(request.header("ttl").orElse("")).matches()) {
      return "TTL is missing or no number";
    }
    if (!URGENCIES.contains(request.header("urgency").orElse("normal"))) {
      return "unknown Urgency";
    }
    if (!TOPIC.matcher(request.header("topic").orElse("-")).matches()) {
      return "Topic is not 1 to 32 characters of base64url";
    }
    if (!request.header("content-encoding").orElse("").equals("aes128gcm")) {
      return "Content-Encoding is not aes128gcm";
    }
    return null;
  }

  private static JsonNode message(Subscription subscription, Request request)
      throws GeneralSecurityException {
    byte[] opened = Decryption.open(subscription, request.body());
    try {
      return JSON.readTree(opened);
    } catch (JacksonException notJson) {
      return StringNode.valueOf(new String(opened, StandardCharsets.UTF_8));
    }
  }

  private Reaction.Answer accepted(Attempt attempt) {
    String message = Long.toString(lastMessage.incrementAndGet());
    record(attempt, message, 201, "", true);
    return new Reaction.Answer(
        201,
        List.of(
            new Header("location", origin() + "/message/" + message),
            new Header("ttl", attempt.headers().getOrDefault("ttl", "0"))),
        new byte[0],
        Duration.ZERO);
  }

  private Reaction met(Fate fate, Attempt attempt) {
    return faults.met(
        fate,
        new Faults.Attempt() {
          @Override
          public Reaction.Answer accepted() {
            return WebPushSimulator.this.accepted(attempt);
          }

          @Override
          public Reaction.Answer refused(Fate fate) {
            record(fate.status(), fate.reason(), fate.delivered());
            Reaction.Answer answer =
                error(fate.status(), fate.reason()).retryAfter(fate.retryAfter());
            return fate.status() / 100 == 3
                ? answer.with("location", origin() + "/push/" + attempt.id())
                : answer;
          }

          @Override
          public void record(int status, String reason, boolean delivered) {
            WebPushSimulator.this.record(attempt, "", status, reason, delivered);
          }
        },
        server);
  }

  private Reaction.Answer refused(String id, Request request, int status, String reason) {
    ledger.append(
        Simulated.WEBPUSH,
        id,
        "",
        status,
        reason,
        false,
        headers(request),
        MissingNode.getInstance());
    return error(status, reason);
  }

  private void record(
      Attempt attempt, String message, int status, String reason, boolean delivered) {
    ledger.append(
        Simulated.WEBPUSH,
        attempt.id(),
        message,
        status,
        reason,
        delivered,
        attempt.headers(),
        attempt.message());
  }

  private static Map<String, String> headers(Request request) {
    Map<String, String> headers = new LinkedHashMap<>();
    TOLD.forEach(name -> request.header(name).ifPresent(value -> headers.put(name, value)));
    return headers;
  }

  /// In autopush's form (https://mozilla-services.github.io/autopush-rs/errors.html).
  private static Reaction.Answer error(int status, String reason) {
    return Reaction.Answer.json(
        status, JSON.createObjectNode().put("code", status).put("message", reason).toString());
  }
}
