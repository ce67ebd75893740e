package io.pushplanet.dispatcher.limit;

import io.pushplanet.common.message.AppId;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/// [Turns] of which no app has more than half: who asks for too much waits in a line of its own, and the others find the other half
/// free. Thread-safe.
public final class AppTurns {
  private final int half;
  private final Turns all;
  private final Supplier<Turns> ofOne;
  private final ConcurrentMap<AppId, Own> own = new ConcurrentHashMap<>();

  /// @param atOnce at least 2
  /// @param inLine who comes when half as much of the same app waits is told so at once
  /// @param longestWait in each of the two lines, the app's and the one of all
  /// @param code of the problem that is told to who gets no turn
  /// @param busy its detail
  public AppTurns(int atOnce, int inLine, Duration longestWait, ProblemCode code, String busy) {
    this.half = atOnce / 2;
    this.all = new Turns(atOnce, inLine, longestWait, code, busy);
    this.ofOne = () -> new Turns(half, inLine / 2, longestWait, code, busy);
  }

  private static final class Own {
    final Turns turns;
    int callers;

    Own(Turns turns) {
      this.turns = turns;
    }
  }

  /// @param weight of the work; what is heavier than half of all that may be done at once counts as that half
  /// @throws ProblemException where too much else waits, or the turn does not come
  public <T, E extends Exception> T inTurn(AppId app, int weight, Turns.Work<T, E> work) throws E {
    int taken = Math.min(weight, half);
    Own line =
        own.compute(
            app,
            (_, before) -> {
              Own one = before == null ? new Own(ofOne.get()) : before;
              one.callers++;
              return one;
            });
    try {
      return line.turns.inTurn(taken, () -> all.inTurn(taken, work));
    } finally {
      own.computeIfPresent(app, (_, one) -> --one.callers == 0 ? null : one);
    }
  }

  /// Apps with work under way or in line.
  int apps() {
    return own.size();
  }
}
