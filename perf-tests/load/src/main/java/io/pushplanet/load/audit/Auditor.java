package io.pushplanet.load.audit;

import com.rabbitmq.client.ConnectionFactory;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.load.client.AcceptedJournal;
import io.pushplanet.load.client.AcceptedMessage;
import io.pushplanet.load.client.HttpAnswer;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.scenario.Target;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Compares the accepted messages with MySQL, the API, the devices and the providers' ledgers, and
/// makes the [Account]. As a program: `Auditor quickstart.json JOURNAL [SIGHTINGS]`; the exit code
/// is 0 only when the account balances.
public final class Auditor {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);
  private static final int MAX_API_CALLS = 2_000;

  private final Target target;

  public Auditor(Target target) {
    this.target = target;
  }

  public static void main(String[] arguments) {
    if (arguments.length < 2 || arguments.length > 3) {
      System.err.println("usage: Auditor .pushplanet/quickstart.json JOURNAL [SIGHTINGS]");
      System.exit(2);
    }
    Optional<Sightings> sightings =
        arguments.length == 3
            ? Optional.of(Sightings.load(Path.of(arguments[2])))
            : Optional.empty();
    Account account =
        new Auditor(Target.of(Path.of(arguments[0])))
            .audit(AcceptedJournal.read(Path.of(arguments[1])), sightings);
    System.out.print(account.text());
    System.exit(account.balances() ? 0 : 1);
  }

  /// Makes the account once nothing is queued, or once no delivery has ended for a while: a backlog
  /// takes its time, and messages that wait for a provider's quarter of an hour are reported as
  /// queued. Those that are still in the broker are lost.
  ///
  /// @param still how long no delivery ends before the account is made nevertheless
  public Account auditWhenQuiet(
      AcceptedJournal.Content journal, Optional<Sightings> sightings, Duration still) {
    awaitQuiet(journal.accepted(), still);
    return audit(journal, sightings, true);
  }

  /// Waits until none of these messages is queued, or no delivery of them has ended for a while.
  ///
  /// @param still how long
  public void awaitQuiet(List<AcceptedMessage> accepted, Duration still) {
    List<MessageId> open = open(accepted.stream().map(AcceptedMessage::id).toList());
    long lastEnd = System.nanoTime();
    while (System.nanoTime() - lastEnd < still.toNanos() && !open.isEmpty()) {
      LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
      // Ended deliveries are not queried again: MySQL still has to write the others.
      List<MessageId> left = open(open);
      if (left.size() < open.size()) {
        lastEnd = System.nanoTime();
      }
      open = left;
    }
  }

  /// The messages that MySQL lacks or calls queued; all of them while it cannot be reached.
  private List<MessageId> open(List<MessageId> messages) {
    try (TruthReader mysql = new TruthReader(target)) {
      Map<String, Counts> counts = mysql.counts(messages);
      return messages.stream()
          .filter(message -> {
            Counts told = counts.get(message.value());
            return told == null || told.queued() > 0;
          })
          .toList();
    } catch (SQLException e) {
      return messages;
    }
  }

  /// @param sightings of the fleet; without them, MQTT deliveries are not checked
  public Account audit(AcceptedJournal.Content journal, Optional<Sightings> sightings) {
    return audit(journal, sightings, false);
  }

  private Account audit(
      AcceptedJournal.Content journal, Optional<Sightings> sightings, boolean still) {
    List<MessageId> ids = journal.accepted().stream().map(AcceptedMessage::id).toList();
    try (TruthReader mysql = new TruthReader(target)) {
      Set<String> watched = new HashSet<>(Set.of("apns", "fcm", "hms", "webpush"));
      sightings.ifPresent(_ -> watched.add("mqtt"));
      return Account.of(
          new Evidence(
              journal.accepted(),
              journal.unsure(),
              mysql.deliveries(ids),
              mysql.counts(ids),
              apiCounts(ids),
              seen(journal, sightings, mysql.devicesByToken(target.app())),
              mysql.held(target.app()),
              inBroker(),
              still,
              watched));
    } catch (SQLException e) {
      throw new IllegalStateException("cannot read MySQL: " + e.getMessage(), e);
    }
  }

  /// How many messages of the app wait in MySQL, each for one device: in the inbox, in broadcasts,
  /// in `later`.
  public long held() {
    try (TruthReader mysql = new TruthReader(target)) {
      return mysql.held(target.app()).size();
    } catch (SQLException e) {
      throw new IllegalStateException("cannot read MySQL: " + e.getMessage(), e);
    }
  }

  private Map<Reception, Integer> seen(
      AcceptedJournal.Content journal,
      Optional<Sightings> sightings,
      Map<String, DeviceId> devicesByToken) {
    Set<DeviceId> ours = new HashSet<>();
    Map<String, String> messages = new HashMap<>();
    for (AcceptedMessage message : journal.accepted()) {
      ours.addAll(message.recipients());
      messages.put(message.reference(), message.id().value());
    }
    devicesByToken.values().retainAll(ours);
    Map<Reception, Integer> seen =
        new HashMap<>(new LedgerReader(target.simulatorsUrl()).read(devicesByToken, messages));
    sightings.ifPresent(devices ->
        devices
            .perDevice()
            .forEach((device, times) ->
                times.forEach((message, count) -> {
                  if (ours.contains(device)) {
                    seen.merge(new Reception(message, device), count, Integer::sum);
                  }
                })));
    return seen;
  }

  /// All messages, or an even sample of many.
  private Map<String, Counts> apiCounts(List<MessageId> ids) {
    Map<String, Counts> counts = new HashMap<>();
    int step = Math.max(1, (ids.size() + MAX_API_CALLS - 1) / MAX_API_CALLS);
    try (HttpConnection connection = new HttpConnection(target.dispatcherUrl(), ANSWER_WITHIN)) {
      for (int i = 0; i < ids.size(); i += step) {
        String path = "/v1/apps/" + target.app().value() + "/messages/" + ids.get(i).value();
        HttpAnswer answer =
            connection.exchange(
                HttpConnection.request(
                    "GET", target.dispatcherUrl(), path, target.apiKey().reveal(), new byte[0]));
        // A message that the API does not know counts as misreported.
        JsonNode told = JsonMapper.shared().readTree(answer.body()).path("counts");
        counts.put(
            ids.get(i).value(),
            new Counts(
                told.path("recipients").asLong(0),
                told.path("delivered").asLong(0),
                told.path("failed").asLong(0),
                told.path("expired").asLong(0),
                told.path("queued").asLong(0),
                told.path("cancelled").asLong(0)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot ask the API at " + target.dispatcherUrl(), e);
    }
    return counts;
  }

  /// Ready messages in the platform's queues.
  private long inBroker() {
    try {
      ConnectionFactory factory = new ConnectionFactory();
      factory.setUri(target.amqpUri());
      try (var connection = factory.newConnection("auditor");
          var channel = connection.createChannel()) {
        long waiting = 0;
        for (String queue : Topology.queues()) {
          if (!queue.equals(Topology.DEAD)) {
            waiting += channel.messageCount(queue);
          }
        }
        return waiting;
      }
    } catch (IOException | TimeoutException | URISyntaxException | GeneralSecurityException e) {
      throw new IllegalStateException("cannot ask the broker: " + e.getMessage(), e);
    }
  }
}
