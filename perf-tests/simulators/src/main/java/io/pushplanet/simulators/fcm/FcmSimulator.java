package io.pushplanet.simulators.fcm;

import io.pushplanet.simulators.fcm.FcmRules.Violation;
import io.pushplanet.simulators.ledger.Ledger;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Faults;
import io.pushplanet.simulators.script.Script;
import io.pushplanet.simulators.server.Endpoint;
import io.pushplanet.simulators.server.Reaction;
import io.pushplanet.simulators.server.Request;
import io.pushplanet.simulators.server.SimulatorServer;
import io.pushplanet.simulators.tls.Authority;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/// FCM HTTP v1 and its OAuth token endpoint (`/token`) on one port, over HTTP/2 or HTTP/1.1 with
/// TLS.
///
/// Thread-safe.
public final class FcmSimulator implements AutoCloseable {
  /// Streams per connection (https://firebase.google.com/docs/cloud-messaging/scale-fcm).
  private static final int STREAMS = 100;

  private final FcmDirectory directory;
  private final OAuth oauth;
  private final Ledger ledger;
  private final Script script;
  private final Faults faults;
  private final Quotas quotas;
  private final Clock clock;
  private final SimulatorServer server;
  private final AtomicLong lastName = new AtomicLong();

  /// Starts listening; port 0 takes a free one.
  public FcmSimulator(
      InetSocketAddress address,
      FcmDirectory directory,
      Authority authority,
      Ledger ledger,
      Script script,
      Clock clock) {
    this.directory = directory;
    this.oauth = new OAuth(directory, clock);
    this.ledger = ledger;
    this.script = script;
    this.faults = new Faults(authority, STREAMS);
    this.quotas = new Quotas(clock);
    this.clock = clock;
    this.server = SimulatorServer.overTls(address, authority, true, client -> new Conversation());
  }

  /// The port it listens on.
  public int port() {
    return server.port();
  }

  /// Where service accounts get their access tokens.
  public String tokenUri() {
    return "https://localhost:" + port() + "/token";
  }

  /// Projects always have quotas, devices and topics on request.
  public Quotas quotas() {
    return quotas;
  }

  @Override
  public void close() {
    server.close();
  }

  private final class Conversation implements Endpoint.Conversation {
    @Override
    public Reaction answer(Request request) {
      return request.path().equals("/token") ? token(request) : send(request);
    }

    @Override
    public int allowedStreams() {
      return faults.streams();
    }
  }

  private Reaction token(Request request) {
    Reaction.Answer answer = oauth.token(request);
    Attempt attempt =
        new Attempt(
            Simulated.OAUTH,
            "",
            "",
            answer.status() == 200 ? "" : "invalid_grant",
            MissingNode.getInstance(),
            answer,
            false);
    return script
        .fate(Simulated.OAUTH, "")
        .map(fate -> faults.met(fate, attempt, server))
        .orElseGet(attempt::accepted);
  }

  /// A request that broke no rule, and the answer it would get.
  private final class Attempt implements Faults.Attempt {
    private final Simulated provider;
    private final String token;
    private final String name;

    /// The answer's error, empty for a good answer.
    private final String code;

    private final JsonNode message;
    private final Reaction.Answer answer;
    private final boolean delivers;

    Attempt(
        Simulated provider,
        String token,
        String name,
        String code,
        JsonNode message,
        Reaction.Answer answer,
        boolean delivers) {
      this.provider = provider;
      this.token = token;
      this.name = name;
      this.code = code;
      this.message = message;
      this.answer = answer;
      this.delivers = delivers;
    }

    @Override
    public Reaction.Answer accepted() {
      record(answer.status(), code, true);
      return answer;
    }

    @Override
    public Reaction.Answer refused(Fate fate) {
      record(fate.status(), fate.reason(), fate.delivered());
      return FcmErrors.answer(
              fate.status(), FcmErrors.status(fate.status()), fate.reason(), List.of())
          .retryAfter(fate.retryAfter());
    }

    @Override
    public void record(int status, String reason, boolean delivered) {
      ledger.append(
          provider, token, name, status, reason, delivered && delivers, Map.of(), message);
    }
  }

  private Reaction send(Request request) {
    List<String> path = request.segments();
    if (path.size() != 4
        || !path.get(0).equals("v1")
        || !path.get(1).equals("projects")
        || !path.get(3).equals("messages:send")) {
      return Reaction.Answer.of(
          404, "text/html", "<html><title>Error 404 (Not Found)!!</title></html>");
    }
    if (!request.method().equals("POST")) {
      return Reaction.Answer.of(405, "text/html", "<html><title>Error 405</title></html>");
    }
    JsonNode body = request.json();
    JsonNode message = body.path("message");
    String token = FcmRules.target(message);
    Optional<String> project = request.bearer().flatMap(oauth::project);
    if (project.isEmpty()) {
      return refused(token, message, 401, "UNAUTHENTICATED", "UNAUTHENTICATED", List.of());
    }
    if (!project.get().equals(path.get(2))) {
      return refused(token, message, 403, "PERMISSION_DENIED", "", List.of());
    }
    Optional<Quotas.Exceeded> ofProject = quotas.countProject(project.get());
    if (ofProject.isPresent()) {
      return overQuota(token, message, ofProject.get());
    }
    List<Violation> violations = FcmRules.violations(body);
    if (!violations.isEmpty()) {
      return refused(token, message, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", violations);
    }
    FcmToken known = directory.token(token);
    if (known != null && known.unregistered()) {
      return refused(token, message, 404, "NOT_FOUND", "UNREGISTERED", List.of());
    }
    if (known != null && !known.project().isEmpty() && !known.project().equals(project.get())) {
      return refused(token, message, 403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", List.of());
    }
    Optional<Quotas.Exceeded> ofTarget =
        FcmRules.isForFollowers(message)
            ? quotas.countTopic(project.get(), token)
            : quotas.countDevice(project.get(), token);
    if (ofTarget.isPresent()) {
      return overQuota(token, message, ofTarget.get());
    }
    boolean validateOnly =
        body.path("validate_only").asBoolean(false) || body.path("validateOnly").asBoolean(false);
    String name = "projects/" + project.get() + "/messages/" + nextName(validateOnly);
    Attempt attempt =
        new Attempt(
            Simulated.FCM,
            token,
            name,
            "",
            message,
            Reaction.Answer.json(200, "{\n  \"name\": \"" + name + "\"\n}\n"),
            !validateOnly);
    return script
        .fate(Simulated.FCM, token)
        .map(fate -> faults.met(fate, attempt, server))
        .orElseGet(attempt::accepted);
  }

  private Reaction.Answer refused(
      String token,
      JsonNode message,
      int code,
      String status,
      String errorCode,
      List<Violation> violations) {
    String reason = errorCode.isEmpty() ? status : errorCode;
    ledger.append(Simulated.FCM, token, "", code, reason, false, Map.of(), message);
    return FcmErrors.answer(code, status, errorCode, violations);
  }

  private Reaction.Answer overQuota(String token, JsonNode message, Quotas.Exceeded exceeded) {
    ledger.append(Simulated.FCM, token, "", 429, "QUOTA_EXCEEDED", false, Map.of(), message);
    return FcmErrors.overQuota(exceeded);
  }

  private String nextName(boolean validateOnly) {
    return validateOnly
        ? "fake_message_id"
        : "0:" + clock.millis() + "%" + Long.toHexString(lastName.incrementAndGet());
  }
}
