package io.pushplanet.load.bench.fault;

import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Auditor;
import io.pushplanet.load.audit.Reception;
import io.pushplanet.load.audit.Repeats;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.fault.EvenLoad.Leg;
import io.pushplanet.load.client.AcceptedJournal.Content;
import io.pushplanet.load.client.AcceptedMessage;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.scenario.Target;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// The account of all legs together, with the notifications that providers accepted twice. For one
/// thread.
final class ProviderAccount {
  /// A provider may ask for a quarter of an hour.
  private static final Duration PUT_OFF_AT_MOST = Duration.ofMinutes(20);

  private static final Duration TOLD_EVERY = Duration.ofMinutes(1);
  private static final Duration ON_ITS_WAY = Duration.ofSeconds(5);

  private final Run run;
  private final Auditor auditor;
  private final URI simulators;
  private List<AcceptedMessage> putOff = List.of();
  private boolean holds = true;
  private long messages;
  private long lost;
  private long failed;
  private long notMergeable;

  ProviderAccount(Run run, Target target) {
    this.run = run;
    this.auditor = new Auditor(target);
    this.simulators = target.simulatorsUrl();
  }

  /// Adds a leg that has ended, with the messages that were put off in former legs.
  ///
  /// @param name for people
  /// @param mostTwice how many notifications providers may have accepted again
  Repeats add(String name, Leg leg, long mostTwice) {
    long began = System.nanoTime();
    Content own = leg.messages();
    List<AcceptedMessage> accepted = new ArrayList<>(own.accepted());
    accepted.addAll(putOff);
    auditor.awaitQuiet(own.accepted(), EvenLoad.QUIET_WITHIN);
    Account account = audit(new Content(accepted, own.unsure()));
    Repeats twice = Repeats.of(simulators);
    // Each leg has its own ledger: a later notification of this leg would be a stranger in the next
    // one's account.
    HttpConnection.ask(simulators, "DELETE", "/ledger", "", "");
    messages += own.accepted().size();
    add(account);
    notMergeable += twice.notMergeable();
    putOff = queued(accepted, account);
    boolean good =
        account.balances()
            && account.undelivered() == account.queued().size()
            && twice.notMergeable() == 0
            && twice.times() <= mostTwice;
    require(good);
    run.say(
        "%-24s %,7d accepted, %,7d delivered, %d lost, %d failed, %d put off, taken twice %d,"
            + " not accepted %s; quiet after %.1f s",
        name,
        own.accepted().size(),
        account.total().delivered(),
        account.lost().size(),
        account.total().failed(),
        putOff.size(),
        twice.times(),
        leg.refusals(),
        (System.nanoTime() - began) / 1e9);
    if (!good) {
      run.out().print(account.text());
    }
    return twice;
  }

  /// Waits for the messages that are put off still, and adds them.
  void awaitPutOff() {
    if (putOff.isEmpty()) {
      return;
    }
    Content left = new Content(putOff, 0);
    long deadline = System.nanoTime() + PUT_OFF_AT_MOST.toNanos();
    Account account;
    do {
      run.say("waiting for messages that are put off: %,d", putOff.size());
      auditor.awaitQuiet(left.accepted(), TOLD_EVERY);
      account = audit(left);
      putOff = queued(left.accepted(), account);
    } while (!putOff.isEmpty() && System.nanoTime() - deadline < 0);
    add(account);
    require(account.deliversAll());
    if (!account.deliversAll()) {
      run.out().print(account.text());
    }
  }

  /// Once more where it does not balance: a message that leaves one store for the next is in
  /// neither for a moment.
  private Account audit(Content messages) {
    Account account = auditor.auditWhenQuiet(messages, Optional.empty(), Duration.ZERO);
    return account.balances()
        ? account
        : auditor.auditWhenQuiet(messages, Optional.empty(), ON_ITS_WAY);
  }

  private void add(Account account) {
    lost += account.lost().size();
    failed += account.total().failed();
  }

  private static List<AcceptedMessage> queued(List<AcceptedMessage> accepted, Account account) {
    Set<String> ids =
        account.queued().stream().map(Reception::message).collect(Collectors.toUnmodifiableSet());
    return accepted.stream().filter(message -> ids.contains(message.id().value())).toList();
  }

  /// Something that a leg showed, and that must be true.
  void require(boolean condition) {
    holds &= condition;
  }

  boolean holds() {
    return holds;
  }

  List<Report.Row> rows() {
    return List.of(
        Report.Row.of("messages accepted", "messages", messages),
        Report.Row.of("lost", "messages", lost, 0),
        Report.Row.of("failed", "messages", failed, 0),
        Report.Row.of("put off to the end", "messages", putOff.size(), 0),
        Report.Row.of("taken twice without the same collapse id", "messages", notMergeable, 0),
        Report.Row.of("the account balances", "1 = yes", holds ? 1 : 0, 1));
  }
}
