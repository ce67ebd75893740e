package io.pushplanet.simulators.hms;

import io.pushplanet.simulators.hms.HmsRules.Violation;
import io.pushplanet.simulators.ledger.Ledger;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.Faults;
import io.pushplanet.simulators.script.Script;
import io.pushplanet.simulators.server.AccessTokens;
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
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/// Push Kit's REST v1 and its OAuth endpoint (`/oauth2/v3/token`) on one port, over HTTP/2 or
/// HTTP/1.1 with TLS. The ledger has an entry for each token of a request.
///
/// Thread-safe.
public final class HmsSimulator implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String SUCCESS = "80000000";
  private static final String PARTIAL = "80100000";
  private static final String ALL_ILLEGAL = "80300007";
  private static final int STREAMS = 100;

  private final HmsDirectory directory;
  private final HmsOAuth oauth;
  private final Ledger ledger;
  private final Script script;
  private final Faults faults;
  private final Clock clock;
  private final SimulatorServer server;
  private final FlowControl flow;
  private final AtomicLong lastRequest = new AtomicLong();

  /// Starts listening; port 0 takes a free one.
  public HmsSimulator(
      InetSocketAddress address,
      HmsDirectory directory,
      Authority authority,
      Ledger ledger,
      Script script,
      Clock clock) {
    this.directory = directory;
    this.oauth = new HmsOAuth(directory, clock);
    this.ledger = ledger;
    this.script = script;
    this.faults = new Faults(authority, STREAMS);
    this.clock = clock;
    this.flow = new FlowControl(clock);
    this.server = SimulatorServer.overTls(address, authority, true, client -> new Conversation());
  }

  /// The port it listens on.
  public int port() {
    return server.port();
  }

  /// Where apps get their access tokens.
  public String tokenUri() {
    return "https://localhost:" + port() + "/oauth2/v3/token";
  }

  /// How many tokens an app may send to per second before flow control; unlimited at first.
  public void limit(int tokensPerSecond) {
    flow.limit(tokensPerSecond);
  }

  @Override
  public void close() {
    server.close();
  }

  private final class Conversation implements Endpoint.Conversation {
    @Override
    public Reaction answer(Request request) {
      return request.path().equals("/oauth2/v3/token") ? token(request) : send(request);
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
            Simulated.HMS_OAUTH,
            List.of(""),
            Set.of(),
            "",
            answer.status() == 200 ? "" : "1101",
            MissingNode.getInstance(),
            answer,
            false);
    return script
        .fate(Simulated.HMS_OAUTH, "")
        .map(fate -> faults.met(fate, attempt, server))
        .orElseGet(attempt::accepted);
  }

  /// A request that broke no rule, and the answer it would get.
  private final class Attempt implements Faults.Attempt {
    private final Simulated provider;
    private final List<String> tokens;

    /// The tokens that get nothing.
    private final Set<String> illegal;

    private final String id;

    /// The answer's error, empty for a good answer.
    private final String code;

    private final JsonNode message;
    private final Reaction.Answer answer;
    private final boolean delivers;

    Attempt(
        Simulated provider,
        List<String> tokens,
        Set<String> illegal,
        String id,
        String code,
        JsonNode message,
        Reaction.Answer answer,
        boolean delivers) {
      this.provider = provider;
      this.tokens = tokens;
      this.illegal = illegal;
      this.id = id;
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
      Reaction.Answer refusal =
          fate.reason().isEmpty()
              ? Reaction.Answer.of(fate.status(), "text/plain", "")
              : answer(fate.status(), fate.reason(), "scripted", id);
      return refusal.retryAfter(fate.retryAfter());
    }

    @Override
    public void record(int status, String reason, boolean delivered) {
      for (String token : tokens) {
        boolean got = delivered && delivers && !illegal.contains(token);
        ledger.append(
            provider,
            token,
            id,
            status,
            got && reason.equals(PARTIAL) ? "" : reason,
            got,
            Map.of(),
            message);
      }
    }
  }

  private Reaction send(Request request) {
    List<String> path = request.segments();
    if (path.size() != 3 || !path.get(0).equals("v1") || !path.get(2).equals("messages:send")) {
      return Reaction.Answer.of(404, "text/html", "<html><title>404 Not Found</title></html>");
    }
    if (!request.method().equals("POST")) {
      return Reaction.Answer.of(405, "text/html", "<html><title>405</title></html>");
    }
    JsonNode body = request.json();
    JsonNode message = message(body);
    List<String> tokens = HmsRules.tokens(body.path("message"));
    String app = path.get(1);
    Optional<AccessTokens.Claim> claim = request.bearer().flatMap(oauth::read);
    HmsClient client = directory.client(app);
    if (client == null || claim.isEmpty() || !claim.get().subject().equals(app)) {
      return refused(tokens, message, 401, "80200001", "OAuth authentication error");
    }
    if (claim.get().expired()) {
      return refused(tokens, message, 401, "80200003", "OAuth token expired");
    }
    Optional<Violation> violation = HmsRules.violation(body);
    if (violation.isPresent()) {
      return refused(tokens, message, 400, violation.get().code(), violation.get().message());
    }
    if (!client.urgent() && message.path("android").path("urgency").asString("").equals("HIGH")) {
      return refused(tokens, message, 400, "80300011", "no right to send with urgency HIGH");
    }
    if (!flow.takes(app, tokens.size())) {
      record(tokens, "", message, 503, "flow_control");
      return Reaction.Answer.of(503, "text/html", "<html><title>503</title></html>");
    }
    boolean validateOnly = body.path("validate_only").asBoolean(false);
    Attempt attempt = attempt(app, tokens, message, validateOnly);
    return script
        .fate(Simulated.HMS, tokens)
        .map(fate -> faults.met(fate, attempt, server))
        .orElseGet(attempt::accepted);
  }

  private Attempt attempt(String app, List<String> tokens, JsonNode message, boolean validateOnly) {
    List<String> illegal =
        tokens.stream().filter(token -> directory.isIllegal(token, app)).toList();
    String id = Long.toString(clock.millis() * 1_000 + lastRequest.incrementAndGet() % 1_000);
    String code = illegal.isEmpty() ? "" : illegal.size() == tokens.size() ? ALL_ILLEGAL : PARTIAL;
    Reaction.Answer answer =
        switch (code) {
          case "" -> answer(200, SUCCESS, "Success", id);
          case PARTIAL -> answer(200, PARTIAL, partial(tokens, illegal), id);
          default -> answer(400, ALL_ILLEGAL, "All the tokens are invalid", id);
        };
    return new Attempt(
        Simulated.HMS, tokens, Set.copyOf(illegal), id, code, message, answer, !validateOnly);
  }

  /// JSON as a string, as Push Kit writes it.
  private static String partial(List<String> tokens, List<String> illegal) {
    ObjectNode counts =
        JSON.createObjectNode()
            .put("success", tokens.size() - illegal.size())
            .put("failure", illegal.size());
    illegal.forEach(counts.putArray("illegal_tokens")::add);
    return counts.toString();
  }

  private Reaction.Answer refused(
      List<String> tokens, JsonNode message, int status, String code, String words) {
    record(tokens, "", message, status, code);
    return answer(status, code, words, "");
  }

  private void record(List<String> tokens, String id, JsonNode message, int status, String reason) {
    for (String token : tokens.isEmpty() ? List.of("") : tokens) {
      ledger.append(Simulated.HMS, token, id, status, reason, false, Map.of(), message);
    }
  }

  private static Reaction.Answer answer(int status, String code, String words, String id) {
    return Reaction.Answer.json(
        status,
        JSON.createObjectNode()
            .put("code", code)
            .put("msg", words)
            .put("requestId", id)
            .toString());
  }

  /// The ledger's form: without its tokens, which have an entry each, and with the JSON in `data`
  /// parsed.
  private static JsonNode message(JsonNode body) {
    JsonNode message = body.path("message").deepCopy();
    if (message instanceof ObjectNode object) {
      object.remove("token");
      try {
        JsonNode data = JSON.readTree(object.path("data").asString(""));
        if (data.isObject()) {
          object.set("data", data);
        }
      } catch (JacksonException notJson) {
        // Not JSON: it stays a string.
      }
    }
    return message;
  }
}
