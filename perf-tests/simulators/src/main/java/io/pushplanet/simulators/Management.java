package io.pushplanet.simulators;

import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.apns.ApnsToken;
import io.pushplanet.simulators.fcm.FcmAccount;
import io.pushplanet.simulators.fcm.FcmToken;
import io.pushplanet.simulators.fcm.Quotas;
import io.pushplanet.simulators.hms.HmsClient;
import io.pushplanet.simulators.hms.HmsToken;
import io.pushplanet.simulators.ledger.Ledger;
import io.pushplanet.simulators.ledger.LedgerEntry;
import io.pushplanet.simulators.script.Durations;
import io.pushplanet.simulators.script.Scenario;
import io.pushplanet.simulators.script.ScriptLine;
import io.pushplanet.simulators.server.Reaction;
import io.pushplanet.simulators.server.Request;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.random.RandomGenerator;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The management port: keys, tokens, scripts and the ledger over plain HTTP/1.1. Each path is in
/// the module's README.
final class Management {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final RandomGenerator RANDOM = new SecureRandom();

  private final Simulators simulators;

  Management(Simulators simulators) {
    this.simulators = simulators;
  }

  Reaction answer(Request request) {
    try {
      return route(request);
    } catch (IllegalArgumentException | JacksonException e) {
      String why = e.getMessage() == null ? "malformed request" : e.getMessage();
      return json(400, JSON.createObjectNode().put("error", why));
    }
  }

  private Reaction route(Request request) {
    List<String> path = request.segments();
    String what =
        request.method()
            + " "
            + (path.size() == 3 ? path.get(0) + "/" + path.get(1) + "/*" : String.join("/", path));
    return switch (what) {
      case "GET " -> Reaction.Answer.json(200, simulators.toJson());
      case "GET health" -> Reaction.Answer.json(200, "{\"status\":\"UP\"}");
      case "PUT apns/keys" -> registerKey(body(request));
      case "POST apns/keys" -> issueKey(body(request));
      case "DELETE apns/keys/*" ->
          simulators.apnsDirectory().revoke(path.get(2)) ? done() : missing();
      case "POST apns/certificates" -> issueCertificate(body(request));
      case "PUT apns/tokens/*" -> registerApnsToken(path.get(2), body(request));
      case "DELETE apns/tokens/*" -> {
        simulators.apnsDirectory().forget(path.get(2));
        yield done();
      }
      case "PUT fcm/service-accounts" -> registerAccount(body(request));
      case "POST fcm/service-accounts" -> issueAccount(body(request));
      case "PUT fcm/tokens/*" -> {
        JsonNode body = body(request);
        simulators
            .fcmDirectory()
            .register(
                path.get(2),
                new FcmToken(
                    body.path("project_id").asString(""),
                    body.path("unregistered").asBoolean(false)));
        yield done();
      }
      case "DELETE fcm/tokens/*" -> {
        simulators.fcmDirectory().forget(path.get(2));
        yield done();
      }
      case "POST hms/clients" -> issueClient(body(request));
      case "PUT hms/tokens/*" -> {
        JsonNode body = body(request);
        simulators
            .hmsDirectory()
            .register(
                path.get(2),
                new HmsToken(
                    body.path("client_id").asString(""), body.path("invalid").asBoolean(false)));
        yield done();
      }
      case "DELETE hms/tokens/*" -> {
        simulators.hmsDirectory().forget(path.get(2));
        yield done();
      }
      case "PUT hms/limits" -> {
        simulators.hms().limit(body(request).path("tokens_per_second").asInt(Integer.MAX_VALUE));
        yield done();
      }
      case "POST webpush/subscriptions" -> subscribe(body(request));
      case "PUT webpush/subscriptions/*" ->
          simulators
                  .webPushDirectory()
                  .mark(path.get(2), body(request).path("gone").asBoolean(false))
              ? done()
              : missing();
      case "PUT apns/rules" -> apnsRules(body(request));
      case "PUT fcm/quotas" -> fcmQuotas(body(request));
      case "POST script" -> addScript(body(request));
      case "POST scenario" -> {
        Scenario.parse(new String(request.body(), StandardCharsets.UTF_8))
            .forEach(simulators.script()::add);
        yield done();
      }
      case "GET script" -> {
        ArrayNode lines = JSON.createArrayNode();
        simulators.script().lines().forEach(lines::addPOJO);
        yield json(200, lines);
      }
      case "DELETE script" -> {
        simulators.script().clear();
        yield done();
      }
      case "GET ledger" -> page(request);
      case "GET ledger/summary" -> summary();
      case "DELETE ledger" -> {
        simulators.ledger().clear();
        yield done();
      }
      default -> missing();
    };
  }

  private Reaction apnsRules(JsonNode body) {
    String counted = body.path("updates_per").asString("team");
    if (!List.of("key", "team").contains(counted)) {
      throw new IllegalArgumentException("updates_per is key or team");
    }
    Duration renewal = Durations.parse(body.path("token_renewal").asString("PT20M"));
    simulators.apns().renewal(renewal, counted.equals("team"));
    simulators.apnsSandbox().renewal(renewal, counted.equals("team"));
    return done();
  }

  private Reaction fcmQuotas(JsonNode body) {
    simulators
        .fcm()
        .quotas()
        .set(
            body.path("project_minute").asInt(Quotas.PER_MINUTE),
            body.path("device_minute").asInt(Integer.MAX_VALUE),
            body.path("device_hour").asInt(Integer.MAX_VALUE));
    simulators.fcm().quotas().setTopic(body.path("topic_minute").asInt(Integer.MAX_VALUE));
    return done();
  }

  private Reaction registerKey(JsonNode body) {
    simulators
        .apnsDirectory()
        .register(
            new ApnsKey(
                text(body, "team_id"),
                text(body, "key_id"),
                text(body, "public_key"),
                strings(body.path("topics")),
                body.path("environment").asString("both")));
    return done();
  }

  private Reaction issueKey(JsonNode body) {
    ApnsKey.Issued issued =
        ApnsKey.issue(
            body.path("team_id").asString(tenCharacters()),
            body.path("key_id").asString(tenCharacters()),
            strings(body.path("topics")));
    simulators.apnsDirectory().register(issued.key());
    return json(
        201,
        JSON.createObjectNode()
            .put("team_id", issued.key().teamId())
            .put("key_id", issued.key().keyId())
            .put("p8", issued.p8()));
  }

  private Reaction issueCertificate(JsonNode body) {
    String password = body.path("password").asString("");
    byte[] p12 = simulators.authority().pushCertificate(text(body, "topic"), password);
    return json(201, JSON.createObjectNode().put("p12", Base64.getEncoder().encodeToString(p12)));
  }

  private Reaction registerApnsToken(String token, JsonNode body) {
    simulators
        .apnsDirectory()
        .register(
            token,
            new ApnsToken(
                body.path("environment").asString("production"),
                body.path("topic").asString(""),
                body.path("unregistered").asLong(0)));
    return done();
  }

  private Reaction registerAccount(JsonNode body) {
    simulators
        .fcmDirectory()
        .register(
            new FcmAccount(
                text(body, "project_id"),
                text(body, "client_email"),
                body.path("private_key_id").asString(""),
                text(body, "public_key")));
    return done();
  }

  private Reaction issueAccount(JsonNode body) {
    FcmAccount.Issued issued =
        FcmAccount.issue(text(body, "project_id"), simulators.fcm().tokenUri());
    simulators.fcmDirectory().register(issued.account());
    return Reaction.Answer.json(201, issued.json());
  }

  private Reaction issueClient(JsonNode body) {
    HmsClient client =
        simulators
            .hmsDirectory()
            .issue(text(body, "client_id"), body.path("urgent").asBoolean(true));
    return json(
        201,
        JSON.createObjectNode()
            .put("client_id", client.clientId())
            .put("client_secret", client.secret()));
  }

  private Reaction subscribe(JsonNode body) {
    String key = body.path("application_server_key").asString("");
    return Reaction.Answer.json(
        201, simulators.webPush().toJson(simulators.webPushDirectory().subscribe(key)));
  }

  private Reaction addScript(JsonNode body) {
    List<ScriptLine> lines = new ArrayList<>();
    if (body.isArray()) {
      body.forEach(line -> lines.add(ScriptLine.of(line)));
    } else {
      lines.add(ScriptLine.of(body));
    }
    lines.forEach(simulators.script()::add);
    return done();
  }

  private Reaction page(Request request) {
    long since = request.query("since").map(Long::parseLong).orElse(0L);
    StringBuilder lines = new StringBuilder();
    for (LedgerEntry entry : simulators.ledger().page(since, request.query("token").orElse(""))) {
      lines.append(Ledger.toLine(entry));
    }
    return Reaction.Answer.of(200, "application/x-ndjson", lines.toString());
  }

  private Reaction summary() {
    ObjectNode summary = JSON.createObjectNode();
    ArrayNode by = summary.putArray("by");
    long entries = 0;
    long delivered = 0;
    for (var kind : simulators.ledger().summary().entrySet()) {
      entries += kind.getValue();
      delivered += kind.getKey().delivered() ? kind.getValue() : 0;
      by.addObject()
          .put("provider", kind.getKey().provider().wireName())
          .put("status", kind.getKey().status())
          .put("reason", kind.getKey().reason())
          .put("delivered", kind.getKey().delivered())
          .put("count", kind.getValue());
    }
    return json(200, summary.put("entries", entries).put("delivered", delivered));
  }

  private static JsonNode body(Request request) {
    return JSON.readTree(request.body());
  }

  private static String text(JsonNode body, String field) {
    String value = body.path(field).asString("");
    if (value.isEmpty()) {
      throw new IllegalArgumentException("\"" + field + "\" is missing");
    }
    return value;
  }

  private static List<String> strings(JsonNode array) {
    List<String> strings = new ArrayList<>();
    array.forEach(item -> strings.add(item.asString()));
    return strings;
  }

  private static String tenCharacters() {
    StringBuilder id = new StringBuilder();
    for (int i = 0; i < 10; i++) {
      id.append("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".charAt(RANDOM.nextInt(32)));
    }
    return id.toString();
  }

  private static Reaction json(int status, JsonNode body) {
    return Reaction.Answer.json(status, body.toString());
  }

  private static Reaction done() {
    return new Reaction.Answer(204, List.of(), new byte[0], Duration.ZERO);
  }

  private static Reaction missing() {
    return json(
        404, JSON.createObjectNode().put("error", "no such path; see the simulators' README"));
  }
}
