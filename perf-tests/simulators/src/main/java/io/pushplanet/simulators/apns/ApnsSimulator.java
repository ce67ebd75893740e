package io.pushplanet.simulators.apns;

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
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/// One environment of APNs: HTTP/2 over TLS, as strict as Apple's documents.
///
/// Thread-safe.
public final class ApnsSimulator implements AutoCloseable {
  private static final List<String> KEPT_HEADERS =
      List.of(
          "apns-topic",
          "apns-push-type",
          "apns-priority",
          "apns-expiration",
          "apns-collapse-id",
          BroadcastChannels.CHANNEL);

  /// Among an entry's headers: `token` or `certificate`.
  private static final String AUTHORIZED_BY = "authorized-by";

  private final ApnsSettings settings;
  private final ApnsDirectory directory;
  private final BroadcastChannels channels = new BroadcastChannels();
  private final ProviderTokens providerTokens;
  private final Ledger ledger;
  private final Script script;
  private final Faults faults;
  private final Clock clock;
  private final Simulated provider;
  private final SimulatorServer server;

  /// Starts listening.
  public ApnsSimulator(
      ApnsSettings settings,
      ApnsDirectory directory,
      Authority authority,
      Ledger ledger,
      Script script,
      Clock clock) {
    this.settings = settings;
    this.directory = directory;
    this.ledger = ledger;
    this.script = script;
    this.faults = new Faults(authority, settings.maxConcurrentStreams());
    this.clock = clock;
    this.provider = settings.sandbox() ? Simulated.APNS_SANDBOX : Simulated.APNS;
    this.providerTokens =
        new ProviderTokens(directory::key, environment(settings), settings.tokenRenewal(), clock);
    this.server = SimulatorServer.overTls(settings.address(), authority, false, Conversation::new);
  }

  /// The port it listens on.
  public int port() {
    return server.port();
  }

  /// How often a provider token may change, and whether changes are counted for a whole team, as
  /// Apple's staff say, or for each of its keys. Resets the counts.
  public void renewal(Duration shortest, boolean perTeam) {
    providerTokens.renewal(shortest, perTeam);
  }

  @Override
  public void close() {
    server.close();
  }

  private static String environment(ApnsSettings settings) {
    return settings.sandbox() ? "sandbox" : "production";
  }

  private final class Conversation implements Endpoint.Conversation {
    private final ConnectedSender sender;
    private boolean proven;

    Conversation(Optional<X509Certificate> client) {
      sender = new ConnectedSender(providerTokens, client);
      proven = sender.hasCertificate();
    }

    @Override
    public int allowedStreams() {
      return proven ? faults.streams() : 1;
    }

    /// A request with the data for its answer and its ledger entry.
    ///
    /// @param target a device token or a channel
    /// @param id as the answer returns it
    private record Asked(
        Request request, boolean overChannels, String target, Header id, JsonNode payload) {
      static Asked of(Request request) {
        boolean overChannels = BroadcastChannels.concerns(request);
        String name = overChannels ? BroadcastChannels.REQUEST : "apns-id";
        String id = request.header(name).orElseGet(() -> UUID.randomUUID().toString());
        List<String> segments = request.segments();
        String target =
            overChannels
                ? request.header(BroadcastChannels.CHANNEL).orElse("")
                : segments.size() > 2 ? segments.get(2) : "";
        return new Asked(request, overChannels, target, new Header(name, id), request.json());
      }

      boolean manages() {
        return overChannels && !BroadcastChannels.isBroadcast(request.segments());
      }
    }

    @Override
    public Reaction answer(Request request) {
      Asked asked = Asked.of(request);
      Optional<ApnsRefusal> refusal = refusal(asked);
      if (refusal.isPresent()) {
        ApnsRefusal why = refusal.get();
        record(asked, asked.target(), why.status, why.name(), false);
        return refused(why.status, why.name(), asked.id(), unregisteredSince(asked.target()), 0);
      }
      Optional<Fate> fate = script.fate(provider, asked.target());
      return fate.isPresent() ? met(fate.get(), asked) : accepted(asked);
    }

    private Reaction.Answer accepted(Asked asked) {
      proven = true;
      if (!asked.manages()) {
        record(asked, asked.target(), 200, "", true);
        return new Reaction.Answer(200, List.of(asked.id()), new byte[0], Duration.ZERO);
      }
      Reaction.Answer answer = channels.managed(asked.request(), asked.id(), asked.payload());
      String channel =
          answer.headers().stream()
              .filter(header -> header.name().equals(BroadcastChannels.CHANNEL))
              .map(Header::value)
              .findFirst()
              .orElse(asked.target());
      record(asked, channel, answer.status(), "", false);
      return answer;
    }

    private Reaction met(Fate fate, Asked asked) {
      Faults.Attempt attempt =
          new Faults.Attempt() {
            @Override
            public Reaction.Answer accepted() {
              return Conversation.this.accepted(asked);
            }

            @Override
            public Reaction.Answer refused(Fate fate) {
              record(fate.status(), fate.reason(), fate.delivered());
              long since = fate.timestampMillis() == 0 ? clock.millis() : fate.timestampMillis();
              return ApnsSimulator.refused(
                  fate.status(), fate.reason(), asked.id(), since, fate.retryAfter().toSeconds());
            }

            @Override
            public void record(int status, String reason, boolean delivered) {
              Conversation.this.record(asked, asked.target(), status, reason, delivered);
            }

            @Override
            public String farewell(Fate fate) {
              return "{\"reason\":\""
                  + (fate.reason().isEmpty() ? "Shutdown" : fate.reason())
                  + "\"}";
            }
          };
      return faults.met(fate, attempt, server);
    }

    private void record(Asked asked, String target, int status, String reason, boolean delivered) {
      Map<String, String> kept = new LinkedHashMap<>();
      for (String name : KEPT_HEADERS) {
        asked.request().header(name).ifPresent(value -> kept.put(name, value));
      }
      // Not the token itself: the ledger is a file.
      if (asked.request().header("authorization").isPresent()) {
        kept.put(AUTHORIZED_BY, "token");
      } else if (sender.hasCertificate()) {
        kept.put(AUTHORIZED_BY, "certificate");
      }
      ledger.append(
          provider, target, asked.id().value(), status, reason, delivered, kept, asked.payload());
    }

    private Optional<ApnsRefusal> refusal(Asked asked) {
      Request request = asked.request();
      Optional<ApnsRefusal> broken =
          asked.overChannels()
              ? BroadcastChannels.brokenByLine(request)
              : ApnsRules.brokenByLine(request);
      if (broken.isPresent()) {
        return broken;
      }
      return switch (sender.judge(request)) {
        case ConnectedSender.Verdict.MayNot(ApnsRefusal why) -> Optional.of(why);
        case ConnectedSender.Verdict.May(List<String> topics, boolean certified) ->
            asked.overChannels()
                ? channels.broken(request, topics, asked.payload())
                : ApnsRules.broken(request, topics, certified, asked.payload())
                    .or(() -> brokenByToken(request, request.segments().get(2)));
      };
    }

    private Optional<ApnsRefusal> brokenByToken(Request request, String token) {
      ApnsToken known = directory.token(token);
      if (known == null) {
        return settings.strictTokens() ? Optional.of(ApnsRefusal.BadDeviceToken) : Optional.empty();
      }
      if (!known.environment().equals(environment(settings))) {
        return Optional.of(ApnsRefusal.BadDeviceToken);
      }
      if (!known.topic().isEmpty()
          && !request.header("apns-topic").orElse("").startsWith(known.topic())) {
        return Optional.of(ApnsRefusal.DeviceTokenNotForTopic);
      }
      return known.unregisteredMillis() > 0
          ? Optional.of(ApnsRefusal.Unregistered)
          : Optional.empty();
    }

    private long unregisteredSince(String token) {
      ApnsToken known = directory.token(token);
      return known == null || known.unregisteredMillis() == 0
          ? clock.millis()
          : known.unregisteredMillis();
    }
  }

  private static Reaction.Answer refused(
      int status, String reason, Header id, long timestampMillis, long retryAfterSeconds) {
    List<Header> headers = new ArrayList<>();
    headers.add(id);
    headers.add(new Header("content-type", "application/json"));
    if (retryAfterSeconds > 0) {
      headers.add(new Header("retry-after", Long.toString(retryAfterSeconds)));
    }
    String timestamp = status == 410 ? ",\"timestamp\":" + timestampMillis : "";
    String body = reason.isEmpty() ? "" : "{\"reason\":\"" + reason + "\"" + timestamp + "}";
    return new Reaction.Answer(
        status, headers, body.getBytes(StandardCharsets.UTF_8), Duration.ZERO);
  }
}
