package io.pushplanet.load.bench.provider;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.audit.Acceptances;
import io.pushplanet.load.audit.Auditor;
import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.node.AlertReceiver;
import io.pushplanet.load.scenario.Target;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// One message to every device of an app whose environments are swapped: first each token belongs
/// to the other environment, then the key does. No token may be forgotten, operators must hear of
/// it within a minute, and after the repair the messages that wait must arrive. For one thread.
final class SwappedKeys {
  private static final Duration TOLD_WITHIN = Duration.ofSeconds(60);
  private static final Duration STILL = Duration.ofSeconds(120);
  private static final Duration ASKED_EVERY = Duration.ofMillis(500);
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);
  private static final int CONNECTIONS = 8;

  private final Run run;
  private final Findings findings;
  private final Target target;
  private final List<DeviceId> devices;
  private final Connection mysql;
  private final AppleKeys apple;
  private final AlertReceiver alerts;

  /// The newest.
  private String broadcast = "";

  /// Where a broadcast stands.
  ///
  /// @param waiting in MySQL
  private record Standing(long delivered, long failed, long waiting) {
    long settled() {
      return delivered + failed + waiting;
    }
  }

  SwappedKeys(
      Run run,
      Findings findings,
      Target target,
      List<DeviceId> devices,
      Connection mysql,
      AppleKeys apple,
      AlertReceiver alerts) {
    this.run = run;
    this.findings = findings;
    this.target = target;
    this.devices = List.copyOf(devices);
    this.mysql = mysql;
    this.apple = apple;
    this.alerts = alerts;
  }

  void measure() {
    AppleKeys.Restricted key = apple.new Restricted();
    key.serves("both");
    apple.upload(key.key());
    foreignTokens();
    foreignKey(key);
  }

  /// APNs calls each token bad.
  private void foreignTokens() {
    List<String> tokens = tokens();
    register(tokens, "sandbox");
    String name = "tokens of the other environment";
    Standing swapped = swapped(name, "tokens_kept", "credential_paused");
    register(tokens, "production");
    repaired(name, swapped);
  }

  /// APNs refuses the key.
  private void foreignKey(AppleKeys.Restricted key) {
    key.serves("sandbox");
    String name = "key of the other environment";
    Standing swapped = swapped(name, "credential_paused");
    findings.none("  failed", "messages", swapped.failed());
    key.serves("both");
    repaired(name, swapped);
  }

  private Standing swapped(String name, String... alert) {
    HttpConnection.ask(target.simulatorsUrl(), "DELETE", "/ledger", "", "");
    long start = System.nanoTime();
    broadcast = broadcast();
    OptionalLong told = alerts.await(start, TOLD_WITHIN, alert);
    run.say(
        "%s: %s",
        name,
        told.isPresent()
            ? "told after %.1f s".formatted((told.getAsLong() - start) / 1e9)
            : "not told within " + TOLD_WITHIN.toSeconds() + " s");
    Standing standing = await(name, false);
    double seconds = (System.nanoTime() - start) / 1e9;
    findings.row(name + ": devices", "devices", devices.size());
    findings.none("  tokens forgotten", "tokens", forgotten());
    findings.require(told.isPresent());
    findings.row(
        "  operators are told after",
        "s",
        (told.orElse(System.nanoTime()) - start) / 1e9,
        TOLD_WITHIN.toSeconds());
    findings.row("  refused with APNs' reason", "messages", standing.failed());
    findings.row("  wait for the right credential", "messages", standing.waiting());
    findings.row("  from the request until all wait or are refused", "s", seconds);
    findings.none("  neither", "messages", devices.size() - standing.failed() - standing.waiting());
    return standing;
  }

  private void repaired(String name, Standing swapped) {
    long start = System.nanoTime();
    apple.tryAgain();
    Standing standing = await(name + ", repaired", true);
    findings.row(
        "  from the repair until all that waited have arrived",
        "s",
        (System.nanoTime() - start) / 1e9);
    findings.none(
        "  of those that waited, did not arrive",
        "messages",
        swapped.waiting() - standing.delivered());
    Acceptances apns = Acceptances.of(target.simulatorsUrl());
    findings.none(
        "  not at APNs", "messages", Math.abs(standing.delivered() - apns.notifications()));
    findings.none("  accepted twice by APNs", "messages", apns.again());
    findings.none("  tokens forgotten after the repair", "tokens", forgotten());
  }

  /// Waits until no message is under way, or until nothing changes any more.
  ///
  /// @param arrived whether those that wait in MySQL are under way, too
  private Standing await(String name, boolean arrived) {
    Standing standing = standing();
    long changed = System.nanoTime();
    long told = changed;
    while (System.nanoTime() - changed < STILL.toNanos()
        && (standing.settled() < devices.size() || (arrived && standing.waiting() > 0))) {
      LockSupport.parkNanos(ASKED_EVERY.toNanos());
      Standing now = standing();
      if (!now.equals(standing)) {
        changed = System.nanoTime();
      }
      standing = now;
      if (System.nanoTime() - told > Duration.ofSeconds(10).toNanos()) {
        told = System.nanoTime();
        run.say(
            "  %s: %,d delivered, %,d refused, %,d wait",
            name, now.delivered(), now.failed(), now.waiting());
      }
    }
    return standing;
  }

  private Standing standing() {
    JsonNode counts = api("GET", "/messages/" + broadcast, "").path("counts");
    return new Standing(
        counts.path("delivered").asLong(),
        counts.path("failed").asLong(),
        new Auditor(target).held());
  }

  private String broadcast() {
    String body =
        "{\"audience\":{\"all\":true},\"content\":{\"title\":\"News\",\"body\":\"For everybody\"},"
            + "\"delivery\":{\"route\":\"vendor\",\"ttl\":\"PT2H\"}}";
    return api("POST", "/messages", body).path("id").asString("");
  }

  private JsonNode api(String method, String path, String body) {
    String app = "/v1/apps/" + target.app().value();
    return JsonMapper.shared()
        .readTree(
            HttpConnection.ask(
                    target.dispatcherUrl(), method, app + path, target.apiKey().reveal(), body)
                .body());
  }

  private long forgotten() {
    try (PreparedStatement query =
        mysql.prepareStatement(
            "SELECT COUNT(*) FROM channel_tokens WHERE app_id = ? AND dead_at IS NOT NULL")) {
      query.setString(1, target.app().value());
      try (ResultSet count = query.executeQuery()) {
        count.next();
        return count.getLong(1);
      }
    } catch (SQLException e) {
      throw new IllegalStateException("cannot read the tokens: " + e.getMessage(), e);
    }
  }

  private List<String> tokens() {
    try (PreparedStatement query =
        mysql.prepareStatement(
            "SELECT token FROM channel_tokens WHERE app_id = ? AND channel = 'apns'")) {
      query.setString(1, target.app().value());
      List<String> tokens = new ArrayList<>();
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          tokens.add(rows.getString(1));
        }
      }
      return tokens;
    } catch (SQLException e) {
      throw new IllegalStateException("cannot read the tokens: " + e.getMessage(), e);
    }
  }

  /// Tells Apple to which environment the tokens belong.
  private void register(List<String> tokens, String environment) {
    run.say("telling APNs that %,d tokens are of %s", tokens.size(), environment);
    byte[] body = ("{\"environment\":\"" + environment + "\"}").getBytes(StandardCharsets.US_ASCII);
    int share = (tokens.size() + CONNECTIONS - 1) / CONNECTIONS;
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var parts = new ArrayList<Future<?>>();
      for (int from = 0; from < tokens.size(); from += share) {
        List<String> mine = tokens.subList(from, Math.min(tokens.size(), from + share));
        parts.add(threads.submit(() -> register(mine, body)));
      }
      for (var part : parts) {
        part.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("cannot register tokens: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private void register(List<String> tokens, byte[] body) {
    try (HttpConnection connection = new HttpConnection(target.simulatorsUrl(), ANSWER_WITHIN)) {
      for (String token : tokens) {
        byte[] request =
            HttpConnection.request(
                "PUT", target.simulatorsUrl(), "/apns/tokens/" + token, "", body);
        int status = connection.exchange(request).status();
        if (status != 204) {
          throw new IllegalStateException("a token was answered with " + status);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot ask the simulators", e);
    }
  }
}
