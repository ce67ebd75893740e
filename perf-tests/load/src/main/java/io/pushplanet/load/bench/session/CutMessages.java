package io.pushplanet.load.bench.session;

import io.pushplanet.common.message.MessageIds;
import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.measure.RepeatedMessages;
import io.pushplanet.load.measure.RepeatedMessages.Account;
import io.pushplanet.load.node.Gateway;
import io.pushplanet.load.node.Gateway.Addressed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/// Messages to the devices that a storm cuts, while it lasts: one at QoS 1 to each, at a random
/// time between the cut and the moment at which the last device could be back. Whatever is on its
/// way at the cut, or finds its device away, comes later. For one thread at a time.
final class CutMessages {
  /// How long after the storm a message may still take. A node answers within 25 s.
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static final Duration TURN = Duration.ofMillis(2);

  private final Gateway gateway;
  private final MessageIds ids;
  private final RandomGenerator random;
  private final String prefix;
  private final int devices;
  private final RepeatedMessages messages = new RepeatedMessages();

  /// @param gateway for these messages alone
  /// @param prefix of the fleet's device ids
  CutMessages(Gateway gateway, MessageIds ids, RandomGenerator random, String prefix, int devices) {
    this.gateway = gateway;
    this.ids = ids;
    this.random = random;
    this.prefix = prefix;
    this.devices = devices;
  }

  /// Sends during one storm, and after it until all are delivered or the limit is over.
  ///
  /// @param length over which the first tries are spread evenly
  /// @param storm whether the devices are not yet all back
  void send(Duration length, BooleanSupplier storm) {
    plan(System.nanoTime(), length);
    while (storm.getAsBoolean()) {
      turn();
    }
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!messages.isDone() && System.nanoTime() - end < 0) {
      turn();
    }
  }

  private void plan(long startNanos, Duration length) {
    List<Integer> order = new ArrayList<>(IntStream.range(0, devices).boxed().toList());
    Collections.shuffle(order, random);
    for (int place = 0; place < devices; place++) {
      messages.add(
          new Addressed(ids.next(), FleetProcess.device(prefix, order.get(place))),
          startNanos + length.toNanos() / devices * place);
    }
  }

  private void turn() {
    List<Addressed> some = messages.due(System.nanoTime(), Gateway.TARGETS_PER_FRAME);
    if (some.isEmpty()) {
      LockSupport.parkNanos(TURN.toNanos());
      return;
    }
    gateway.send(some, (id, result) -> messages.told(id, result, System.nanoTime()));
  }

  /// Tells what became of the messages of all storms.
  void tell(Sightings seen, Findings findings) {
    Account account = messages.account(seen);
    findings.row(
        "messages to the devices that are cut, before and in all storms",
        "messages",
        account.messages());
    findings.row("of these, delivered at the first try", "messages", account.atOnce());
    findings.row("of these, delivered after repeats", "messages", account.later());
    findings.row("repeats of these", "tries", account.repeats());
    findings.row("repeats of these, of one message at most", "tries", account.mostRepeats());
    findings.row("outcomes: the device is away", "outcomes", account.notHere());
    findings.row("outcomes: it did not acknowledge in time", "outcomes", account.timeouts());
    findings.row("outcomes: refused", "outcomes", account.refused());
    findings.row("received by the device", "messages", account.received(), account.messages());
    findings.none("lost", "messages", account.lost());
    findings.none("lost, and called delivered", "messages", account.untrue());
    findings.none(
        "not delivered " + LIMIT.toSeconds() + " s after the storm",
        "messages",
        account.undelivered());
    findings.none("without an outcome of the last try", "messages", account.unanswered());
    findings.row(
        "received twice, as the first acknowledgement was cut off", "messages", account.again());
    findings.none("received more often than sent", "messages", account.surplus());
    findings.none("outcomes beyond one for each try", "outcomes", account.unasked());
  }
}
