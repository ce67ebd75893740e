package io.pushplanet.load.bench.fault;

import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Repeats;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.fault.EvenLoad.Leg;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.measure.Report;
import java.net.URI;
import java.util.List;
import java.util.Optional;

/// The account of all legs together, with the notifications that providers accepted twice. For one
/// thread.
final class ProviderAccount {
  private final Run run;
  private final EvenLoad load;
  private final URI simulators;
  private boolean holds = true;
  private long messages;
  private long lost;
  private long failed;
  private long notMergeable;

  ProviderAccount(Run run, EvenLoad load, URI simulators) {
    this.run = run;
    this.load = load;
    this.simulators = simulators;
  }

  /// Adds a leg that has ended.
  ///
  /// @param name for people
  /// @param mostTwice how many notifications providers may have accepted again
  Repeats add(String name, Leg leg, long mostTwice) {
    long began = System.nanoTime();
    Account account = load.audit(leg, Optional.empty());
    Repeats twice = Repeats.of(simulators);
    // Each leg has its own ledger: a later notification of this leg would be a stranger in the next
    // one's account.
    HttpConnection.ask(simulators, "DELETE", "/ledger", "", "");
    messages += account.messages();
    lost += account.lost().size();
    failed += account.total().failed();
    notMergeable += twice.notMergeable();
    boolean good =
        account.balances()
            && account.total().failed() == 0
            && twice.notMergeable() == 0
            && twice.times() <= mostTwice;
    require(good);
    run.say(
        "%-24s %,7d accepted, %,7d delivered, %d lost, %d failed, taken twice %d, not accepted %s;"
            + " quiet after %.1f s",
        name,
        account.messages(),
        account.total().delivered(),
        account.lost().size(),
        account.total().failed(),
        twice.times(),
        leg.refusals(),
        (System.nanoTime() - began) / 1e9);
    if (!good) {
      run.out().print(account.text());
    }
    return twice;
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
        Report.Row.of("taken twice without the same collapse id", "messages", notMergeable, 0),
        Report.Row.of("the account balances", "1 = yes", holds ? 1 : 0, 1));
  }
}
